/* SPDX-License-Identifier: MIT */
/* The file system below the store is full, or read-only. Skipped without the right to mount. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/daemon/failing_store.h"

#define EXIT_STORE   4
#define EXIT_SKIPPED 77

static struct failing w;
static char state[96];

static void state_make(void)
{
	broker_init(&w.b);
	snprintf(state, sizeof(state), "%s/state", w.b.dir);
	ck_assert_int_eq(mkdir(state, 0700), 0);
}

/* ---- full ---- */

static char filler[128];

static void make_room(struct failing *unused)
{
	(void)unused;
	ck_assert_int_eq(unlink(filler), 0);
}

START_TEST(full)
{
	char block[4096] = {0};
	int fd;

	state_make();
	ck_assert_int_eq(mount("tmpfs", state, "tmpfs", 0, "size=2m,mode=0700"), 0);
	failing_start(&w);
	snprintf(filler, sizeof(filler), "%s/filler", state);
	fd = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	while (write(fd, block, sizeof(block)) > 0)
		;
	close(fd);
	/* the pages that SQLite has already are used up first: a denial tells when */
	failing_whole(&w, make_room);
	ck_assert_int_eq(umount2(state, MNT_DETACH), 0);
	broker_fini(&w.b);
}
END_TEST

/* ---- read-only from the start ---- */

START_TEST(read_only)
{
	state_make();
	broker_start(&w.b, NULL);
	broker_stop(&w.b);
	ck_assert_int_eq(mount(state, state, NULL, MS_BIND, NULL), 0);
	ck_assert_int_eq(mount(NULL, state, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL), 0);
	ck_assert_int_eq(broker_try(&w.b, NULL), EXIT_STORE);
	ck_assert_int_eq(umount2(state, MNT_DETACH), 0);
	broker_start(&w.b, NULL);
	broker_stop(&w.b);
	broker_fini(&w.b);
}
END_TEST

/* Whether file systems may be mounted here at all. */
static bool may_mount(void)
{
	char dir[] = "/tmp/approvald-mount-XXXXXX";
	bool may;

	if (!mkdtemp(dir))
		return false;
	may = mount("tmpfs", dir, "tmpfs", 0, NULL) == 0;
	if (may)
		umount2(dir, MNT_DETACH);
	rmdir(dir);
	return may;
}

int main(void)
{
	Suite *s = suite_create("the file system below the store");
	TCase *t = tcase_create("mount");
	SRunner *sr;
	int failed;

	if (!may_mount()) {
		printf("no right to mount: skipped\n");
		return EXIT_SKIPPED;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, full);
	tcase_add_test(t, read_only);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
