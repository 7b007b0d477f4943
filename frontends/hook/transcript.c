/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "frontends/hook/stream.h"
#include "frontends/hook/transcript.h"

#define TALLY_CHUNK	(1u << 20)
#define TALLY_COUNT_MAX (UINT64_C(1) << 40) /* of one message: more is no count of tokens */
#define INTERRUPTED	"[Request interrupted by user"

static uint64_t hash_id(const char *s, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * UINT64_C(0x100000001b3);
	return h ? h : 1;
}

static bool line_has(const char *line, size_t len, const char *word)
{
	return memmem(line, len, word, strlen(word)) != NULL;
}

static const char *member_text(struct json_object *o, const char *name)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, name, &v) ||
		!json_object_is_type(v, json_type_string))
		return NULL;
	return json_object_get_string(v);
}

uint64_t tally_total(const struct tally *t, enum tally_field field)
{
	bool again = t->floor_turn[0] && strcmp(t->turn, t->floor_turn) == 0;

	return again && t->floor[field] > t->sum[field] ? t->floor[field] : t->sum[field];
}

uint64_t tally_seq(const struct tally *t)
{
	return t->generation << 40 | (t->offset & ((UINT64_C(1) << 40) - 1));
}

static bool tally_counted(const struct tally *t)
{
	int i;

	for (i = 0; i < TALLY_N; i++)
		if (t->sum[i] > 0)
			return true;
	return false;
}

static void tally_turn(struct tally *t, const char *turn, tally_fn fn, void *arg)
{
	if (strcmp(t->turn, turn) == 0)
		return;
	/* what came before the first name is taken to belong to it */
	if (t->turn[0]) {
		if (fn && tally_counted(t))
			fn(t, TALLY_TURN_OVER, arg);
		memset(t->sum, 0, sizeof(t->sum));
	}
	strcpy(t->turn, turn);
}

void tally_hint(struct tally *t, const char *turn)
{
	if (!t->named && turn && strlen(turn) <= LIMIT_NAME)
		tally_turn(t, turn, NULL, NULL);
}

static struct tally_message *tally_message(struct tally *t, uint64_t id)
{
	struct tally_message *m;
	unsigned i;

	for (i = 0; i < TALLY_RECENT; i++)
		if (t->recent[i].id == id)
			return &t->recent[i];
	m = &t->recent[t->next];
	t->next = (t->next + 1) % TALLY_RECENT;
	memset(m, 0, sizeof(*m));
	m->id = id;
	return m;
}

static void tally_usage(struct tally *t, struct json_object *message, struct json_object *usage,
	uint64_t position)
{
	static const char *const names[TALLY_N] = {
		[TALLY_INPUT] = "input_tokens",
		[TALLY_OUTPUT] = "output_tokens",
		[TALLY_CACHE_READ] = "cache_read_input_tokens",
		[TALLY_CACHE_WRITE] = "cache_creation_input_tokens",
	};
	const char *id = member_text(message, "id");
	struct tally_message *m;
	struct json_object *v;
	int64_t n;
	int i;

	/* a message without an id has one line, and is named by its place */
	m = tally_message(t, id && *id ? hash_id(id, strlen(id))
				       : hash_id((const char *)&position, sizeof(position)));
	for (i = 0; i < TALLY_N; i++) {
		if (!json_object_object_get_ex(usage, names[i], &v) ||
			!json_object_is_type(v, json_type_int))
			continue;
		n = json_object_get_int64(v);
		if (n < 0 || (uint64_t)n > TALLY_COUNT_MAX || (uint64_t)n <= m->counted[i])
			continue;
		/* no overflow: it would take 2^23 messages of the greatest count */
		if (t->sum[i] < UINT64_MAX / 2)
			t->sum[i] += (uint64_t)n - m->counted[i];
		m->counted[i] = (uint64_t)n;
	}
}

static bool content_interrupted(struct json_object *message)
{
	struct json_object *content, *item;
	const char *text;
	size_t i;

	text = member_text(message, "content");
	if (text)
		return strncmp(text, INTERRUPTED, strlen(INTERRUPTED)) == 0;
	if (!json_object_object_get_ex(message, "content", &content) ||
		!json_object_is_type(content, json_type_array))
		return false;
	for (i = 0; i < json_object_array_length(content); i++) {
		item = json_object_array_get_idx(content, i);
		if (!json_object_is_type(item, json_type_object))
			continue;
		/* not in what a tool gave back, where anyone may have written it */
		text = member_text(item, "type");
		if (!text || strcmp(text, "text") != 0)
			continue;
		text = member_text(item, "text");
		if (text && strncmp(text, INTERRUPTED, strlen(INTERRUPTED)) == 0)
			return true;
	}
	return false;
}

/* Lines that only repeat the name of the present turn need not be parsed: they may be long. */
static bool line_names_turn(const struct tally *t, const char *line, size_t len)
{
	static const char key[] = "\"promptId\":\"";
	const char *at = memmem(line, len, key, sizeof(key) - 1);
	size_t have = strlen(t->turn), left;

	if (!at)
		return false;
	at += sizeof(key) - 1;
	left = len - (size_t)(at - line);
	return !(t->named && left > have && memcmp(at, t->turn, have) == 0 && at[have] == '"');
}

static void tally_line(struct tally *t, const char *line, size_t len, tally_fn fn, void *arg)
{
	bool usage = line_has(line, len, "\"usage\"") && line_has(line, len, "\"assistant\"");
	bool interrupted = line_has(line, len, INTERRUPTED);
	struct json_object *root, *message, *v;
	const char *type, *turn;

	/* what the model is given names the prompt; its answers do not */
	if (line_has(line, len, "\"promptId\""))
		t->answered = false;
	if (!usage && !interrupted && !line_names_turn(t, line, len))
		return;
	if (stream_parse(line, len, &root) < 0)
		return;
	type = json_object_is_type(root, json_type_object) ? member_text(root, "type") : NULL;
	if (!type)
		goto out;
	turn = member_text(root, "promptId");
	if (turn && *turn && strlen(turn) <= LIMIT_NAME) {
		tally_turn(t, turn, fn, arg);
		t->named = true;
	}
	if (!json_object_object_get_ex(root, "message", &message) ||
		!json_object_is_type(message, json_type_object))
		goto out;
	if (strcmp(type, "assistant") == 0 && json_object_object_get_ex(message, "usage", &v) &&
		json_object_is_type(v, json_type_object)) {
		tally_usage(t, message, v, t->offset);
		t->answered = true;
	}
	if (strcmp(type, "user") == 0 && interrupted && content_interrupted(message) && fn)
		fn(t, TALLY_INTERRUPTED, arg);
out:
	json_object_put(root);
}

/* Takes the complete lines of data; how many bytes these were. */
static size_t tally_lines(struct tally *t, const char *data, size_t len, tally_fn fn, void *arg)
{
	size_t used = 0, n;
	const char *end;

	while (used < len && (end = memchr(data + used, '\n', len - used))) {
		n = (size_t)(end - (data + used));
		if (!t->skip && n > 0)
			tally_line(t, data + used, n, fn, arg);
		t->skip = false;
		used += n + 1;
		t->offset += n + 1;
	}
	return used;
}

static void tally_begin(struct tally *t, int fd, const struct stat *st, enum tally_start start)
{
	uint64_t size = (uint64_t)st->st_size;
	char last = '\n';

	t->started = true;
	t->inode = st->st_ino;
	t->offset = 0;
	t->skip = false;
	if (start == TALLY_END || (start == TALLY_LAST && size > TALLY_TAIL))
		t->offset = start == TALLY_END ? size : size - TALLY_TAIL;
	/* in the middle of a line: the rest of it says nothing */
	if (t->offset > 0 && pread(fd, &last, 1, (off_t)t->offset - 1) == 1)
		t->skip = last != '\n';
}

static void tally_restart(struct tally *t, int fd, const struct stat *st)
{
	int i;

	for (i = 0; i < TALLY_N; i++)
		t->floor[i] = tally_total(t, (enum tally_field)i);
	memcpy(t->floor_turn, t->turn, sizeof(t->floor_turn));
	memset(t->sum, 0, sizeof(t->sum));
	memset(t->recent, 0, sizeof(t->recent));
	t->next = 0;
	t->turn[0] = '\0';
	t->named = false;
	t->generation++;
	tally_begin(t, fd, st, TALLY_LAST);
}

static int tally_chunks(
	struct tally *t, int fd, uint64_t size, size_t budget, tally_fn fn, void *arg)
{
	size_t room = budget < TALLY_CHUNK ? budget : TALLY_CHUNK, want, used, done = 0;
	char *buf = malloc(room), *grown;
	ssize_t n;
	int r = 0;

	if (!buf)
		return -ENOMEM;
	while (t->offset < size && done < budget) {
		want = size - t->offset < room ? (size_t)(size - t->offset) : room;
		n = pread(fd, buf, want, (off_t)t->offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			r = n < 0 ? -errno : 0;
			break;
		}
		used = tally_lines(t, buf, (size_t)n, fn, arg);
		done += used;
		if (used > 0)
			continue;
		if (t->skip || room >= TALLY_LINE_MAX) {
			/* pass over what is too long to be one of ours */
			t->skip = true;
			t->offset += (uint64_t)n;
			done += (size_t)n;
			continue;
		}
		if ((size_t)n < room || room >= budget)
			break; /* not complete yet, or for somebody with more time */
		grown = realloc(buf, room * 2);
		if (!grown) {
			r = -ENOMEM;
			break;
		}
		buf = grown;
		room *= 2;
	}
	free(buf);
	return r < 0 ? r : t->offset < size && done >= budget;
}

int tally_read(struct tally *t, const char *path, enum tally_start start, size_t budget,
	tally_fn fn, void *arg)
{
	struct stat st;
	int fd, r;

	/* never wait for a fifo that somebody put there */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0) {
		r = -errno;
		goto out;
	}
	r = -EINVAL;
	if (!S_ISREG(st.st_mode))
		goto out;
	if (!t->started)
		tally_begin(t, fd, &st, start);
	else if (t->inode != st.st_ino || (uint64_t)st.st_size < t->offset)
		tally_restart(t, fd, &st);
	r = tally_chunks(t, fd, (uint64_t)st.st_size, budget, fn, arg);
out:
	close(fd);
	return r;
}
