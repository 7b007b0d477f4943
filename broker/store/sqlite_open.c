/* SPDX-License-Identifier: MIT */
/* Opening the database, and getting it back when it was lost while open. */
#include "config.h"

#include "broker/store/sqlite_private.h"

#include "libapproval/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_SIZE	   100
#define HEADER_VERSION	   60
#define HEADER_APPLICATION 68

/*
 * One broker for one database: a lock on a file beside it, since SQLite's own
 * exclusive mode would keep readers out, too.
 */
int sqlite_lock(struct sqlite *s)
{
	s->lock = open(s->lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lock < 0)
		return sqlite_system_errno(errno);
	if (flock(s->lock, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : sqlite_system_errno(errno);
	return 0;
}

static struct sqlite_file file_at(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return (struct sqlite_file){0, 0};
	return (struct sqlite_file){st.st_dev, st.st_ino};
}

static bool file_same(const struct sqlite_file *a, const struct sqlite_file *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

static uint32_t header_u32(const uint8_t *header, size_t at)
{
	return (uint32_t)header[at] << 24 | (uint32_t)header[at + 1] << 16 |
	       (uint32_t)header[at + 2] << 8 | header[at + 3];
}

/* Whether nobody but this user and root can write to it, or put another in its place. */
static bool is_ours(const struct stat *st)
{
	return (st->st_uid == geteuid() || (S_ISDIR(st->st_mode) && st->st_uid == 0)) &&
	       (!(st->st_mode & 022) || (S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX));
}

/* What SQLite takes for its own beside the database says as much as that. */
static int companions_inspect(const struct sqlite *s)
{
	static const char *const ends[] = {"-wal", "-shm", "-journal"};
	const char *const slash = strrchr(s->path, '/');
	char path[PATH_MAX];
	struct stat st;

	if (strlen(s->path) + sizeof("-journal") > sizeof(path))
		return -ENAMETOOLONG;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", s->path, ends[i]);
		if (lstat(path, &st) == 0 && (!S_ISREG(st.st_mode) || !is_ours(&st)))
			return -EPERM;
	}
	snprintf(path, sizeof(path), "%.*s", slash ? (int)(slash - s->path) + 1 : 1,
		slash ? s->path : ".");
	if (stat(path, &st) < 0)
		return sqlite_system_errno(errno);
	return is_ours(&st) ? 0 : -EPERM;
}

/*
 * Creates a missing file with the right mode, and looks into one that is there
 * before SQLite may write to it. To be called only while SQLite does not have
 * it open: closing the descriptor would take SQLite's locks away.
 */
static int file_inspect(struct sqlite *s)
{
	uint8_t header[HEADER_SIZE];
	struct stat st;
	ssize_t n;
	int err = companions_inspect(s), fd;

	if (err)
		return err;
	/* a link would let another place be written to, and its companions lie elsewhere */
	fd = open(s->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return sqlite_system_errno(errno);
	n = pread(fd, header, sizeof(header), 0);
	if (n < 0 || fstat(fd, &st) < 0)
		err = sqlite_system_errno(errno);
	else if (!S_ISREG(st.st_mode))
		err = -EUCLEAN;
	else if (!is_ours(&st))
		err = -EPERM; /* what it says of decisions may be anybody's */
	else if (n > 0 && (n < HEADER_SIZE || memcmp(header, "SQLite format 3", 16) != 0))
		err = -EUCLEAN;
	else if (n > 0 && header_u32(header, HEADER_APPLICATION) == SQLITE_APPLICATION_ID &&
		 header_u32(header, HEADER_VERSION) > (uint32_t)sqlite_version())
		err = -EPROTO;
	close(fd);
	if (!err)
		s->file = (struct sqlite_file){st.st_dev, st.st_ino};
	return err;
}

static int configure(sqlite3 *db)
{
	static const int settings[][2] = {
		{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
		{SQLITE_DBCONFIG_ENABLE_VIEW, 0},
		{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
		/* until the version is known to be ours */
		{SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1},
	};
	char pragmas[256];
	int rc = SQLITE_OK;

	sqlite3_extended_result_codes(db, 1);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]) && rc == SQLITE_OK; i++)
		rc = sqlite3_db_config(db, settings[i][0], settings[i][1], NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_busy_timeout(db, SQLITE_BUSY_MS);
	if (rc != SQLITE_OK)
		return sqlite_errno(db, rc);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, (int)LIMIT_FRAME * 3);
	sqlite3_snprintf(sizeof(pragmas), pragmas,
		"PRAGMA mmap_size = 0; PRAGMA cache_size = -%d; PRAGMA temp_store = MEMORY;"
		"PRAGMA synchronous = FULL; PRAGMA journal_size_limit = %d;",
		SQLITE_CACHE_KIB, SQLITE_WAL_KEEP);
	return sqlite_exec(db, pragmas);
}

static int enter_wal(sqlite3 *db)
{
	int64_t version = 0, wal = 0;
	int err;

	err = sqlite_integer(db, "PRAGMA user_version", &version);
	if (err)
		return err;
	if (version > sqlite_version())
		return -EPROTO;
	if (sqlite3_db_readonly(db, "main") == 1)
		return -EROFS;
	sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	err = sqlite_exec(db, "PRAGMA journal_mode = WAL");
	if (!err)
		err = sqlite_integer(
			db, "SELECT journal_mode = 'wal' FROM pragma_journal_mode", &wal);
	return err ? err : wal ? 0 : -EIO;
}

/*
 * Whether the database that was opened holds what was held when the one before it was
 * closed: an old copy lacks some of it, and what has ended since stands in it as alive.
 */
static bool holds_the_same(const struct sqlite *s, const struct chain_link *head)
{
	if (s->now.head.seq != head->seq ||
		memcmp(s->now.head.hash, head->hash, sizeof(head->hash)) != 0)
		return false;
	for (int kind = 0; kind < RECORD_N; kind++) {
		const struct rowmap *const held = &s->held[kind];

		if (s->rows[kind].used != held->used)
			return false;
		for (size_t i = 0; i < held->size; i++)
			if (held->slots[i].row &&
				!rowmap_get(&s->rows[kind], &held->slots[i].id))
				return false;
	}
	return true;
}

static void held_free(struct sqlite *s)
{
	for (int kind = 0; kind < RECORD_N; kind++)
		rowmap_free(&s->held[kind]);
	s->holds = false;
}

int sqlite_open_db(struct sqlite *s)
{
	struct sqlite_file before = s->file;
	struct sqlite_state known = s->now;
	int err, rc;

	/* one that is not there any more is not begun anew: it would lack what is held */
	if (s->holds && access(s->path, F_OK) < 0 && errno == ENOENT)
		return -ESTALE;
	err = file_inspect(s);
	if (err)
		return err;
	rc = sqlite3_open_v2(
		s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (!s->db)
		return -ENOMEM;
	err = sqlite_errno(s->db, rc);
	if (!err)
		err = configure(s->db);
	if (!err)
		err = enter_wal(s->db);
	if (!err)
		err = sqlite_schema(s->db);
	if (!err)
		err = sqlite_restore(s);
	if (!err && s->holds && !holds_the_same(s, &known.head))
		err = -ESTALE;
	if (err) {
		sqlite_close_db(s);
		s->file = before;
		s->now = known;
		return err;
	}
	/* of the same file we know how far it went */
	if (file_same(&before, &s->file) && known.head.seq > s->now.head.seq)
		s->now.head = known.head;
	s->wal = file_at(s->wal_path);
	s->suspect = s->doubt = false;
	held_free(s);
	return 0;
}

void sqlite_close_db(struct sqlite *s)
{
	for (int i = 0; i < STATEMENT_N; i++) {
		sqlite3_finalize(s->statements[i]);
		s->statements[i] = NULL;
	}
	sqlite3_close(s->db);
	s->db = NULL;
	for (int kind = 0; kind < RECORD_N; kind++)
		rowmap_free(&s->rows[kind]);
}

/* Copies the database to a file that must not exist. */
static int copy_to(sqlite3 *from, const char *path)
{
	sqlite3_backup *backup;
	sqlite3 *to = NULL;
	int err, rc, fd;

	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return sqlite_system_errno(errno);
	close(fd);
	rc = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (!to)
		return -ENOMEM;
	if (rc == SQLITE_OK) {
		backup = sqlite3_backup_init(to, "main", from, "main");
		if (backup) {
			sqlite3_backup_step(backup, -1);
			rc = sqlite3_backup_finish(backup);
		} else {
			rc = sqlite3_errcode(to);
		}
	}
	err = sqlite_errno(to, rc);
	rc = sqlite3_close(to);
	return err ? err : sqlite_errno(from, rc);
}

/*
 * The file was deleted while it was open: all that it held can still be read,
 * and is written to a new one. What stands there by now is never overwritten. Where
 * nothing can be read, a new one would lack what this broker holds.
 */
static int rescue(struct sqlite *s)
{
	char *copy = sqlite3_mprintf("%s-rescue", s->path);
	int err;

	if (!copy)
		return -ENOMEM;
	unlink(copy);
	err = copy_to(s->db, copy);
	if (!err && link(copy, s->path) < 0)
		err = errno == EEXIST ? -ESTALE : sqlite_system_errno(errno);
	unlink(copy);
	sqlite3_free(copy);
	return err;
}

/* The log was deleted alone: bring what it held into the database. */
static int log_rescue(struct sqlite *s)
{
	return sqlite_error(s,
		sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL));
}

/* A log that belongs to a file that is gone would be played into the one at its place. */
static void log_discard(struct sqlite *s)
{
	struct sqlite_file wal = file_at(s->wal_path);

	if (wal.ino && file_same(&wal, &s->wal))
		unlink(s->wal_path);
}

/*
 * A commit whose fsync failed stands in the log all the same, and opening anew would find it
 * there. This connection knows better, and what it writes next takes its place.
 */
static int log_overwrite(struct sqlite *s)
{
	int err = sqlite_run(s, STATEMENT_BEGIN);

	if (!err)
		err = sqlite_touch(s);
	if (!err)
		err = sqlite_run(s, STATEMENT_COMMIT);
	if (!err) {
		s->doubt = false;
		return 0;
	}
	if (!sqlite3_get_autocommit(s->db))
		sqlite_run(s, STATEMENT_ROLLBACK);
	return err;
}

static int reopen(struct sqlite *s, bool gone)
{
	memcpy(s->held, s->rows, sizeof(s->held));
	memset(s->rows, 0, sizeof(s->rows));
	s->holds = true;
	sqlite_close_db(s);
	if (gone)
		log_discard(s);
	return sqlite_open_db(s);
}

int sqlite_ready(struct sqlite *s)
{
	struct sqlite_file file = file_at(s->path), wal = file_at(s->wal_path);
	bool gone = !file_same(&file, &s->file);
	int err = 0;

	if (!s->db)
		return sqlite_open_db(s);
	if (gone && !file.ino)
		err = rescue(s);
	else if (!gone && !file_same(&wal, &s->wal))
		err = log_rescue(s);
	else if (!gone && !s->suspect)
		return 0;
	else if (!gone && s->doubt && (err = log_overwrite(s)) == -EUCLEAN)
		err = 0; /* it is damaged: nothing is to be had of this connection any more */
	return err ? err : reopen(s, gone);
}
