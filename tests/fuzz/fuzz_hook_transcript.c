/* SPDX-License-Identifier: MIT */
/* A transcript: however it is read, piece by piece or at once, the sums are the same. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frontends/hook/transcript.h"
#include "libapproval/approval.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
	if (!ok)
		abort();
}

static void through_the_cursor(struct tally *t)
{
	struct approval_pack *p = NULL;
	const void *bytes;
	size_t len;

	check(approval_pack_new(&p) == 0 && tally_save(t, p) == 0);
	bytes = approval_pack_data(p, &len);
	check(len <= LIMIT_CURSOR && tally_load(t, bytes, len) == 0);
	approval_pack_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tally once = {0}, parts = {0}, cursor;
	int fd = memfd_create("transcript", MFD_CLOEXEC), i;
	char path[64];
	size_t half = size ? data[0] % size : 0;

	check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check(tally_read(&once, path, TALLY_BEGIN, 1 << 20, NULL, NULL) == 0);
	check(once.offset <= size);

	check(ftruncate(fd, (off_t)half) == 0);
	check(tally_read(&parts, path, TALLY_BEGIN, 1 << 20, NULL, NULL) == 0);
	through_the_cursor(&parts);
	check(pwrite(fd, data + half, size - half, (off_t)half) == (ssize_t)(size - half));
	while (tally_read(&parts, path, TALLY_BEGIN, 1 << 20, NULL, NULL) == 1)
		through_the_cursor(&parts);
	check(parts.offset == once.offset);
	for (i = 0; i < TALLY_N; i++)
		check(tally_total(&parts, (enum tally_field)i) ==
			tally_total(&once, (enum tally_field)i));
	close(fd);
	tally_load(&cursor, data, size);
	check(cursor.next < TALLY_RECENT);
	return 0;
}
