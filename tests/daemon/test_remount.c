/* SPDX-License-Identifier: MIT */
/*
 * The file system below the store turns read-only under the broker, as ext4 does after an
 * error of the disk, and is mounted anew. Skipped without a loop device of our own.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/daemon/failing_store.h"

#define EXIT_SKIPPED 77

static struct failing w;
static char state[96];
static char image[128], device[64];

/* Runs a command and keeps the first line of what it says; false: it failed. */
static bool run(char *line, size_t size, const char *words, const char *argument)
{
	char command[256];
	FILE *f;

	snprintf(command, sizeof(command), "PATH=$PATH:/usr/sbin:/sbin %s '%s' 2>&1", words,
		argument);
	f = popen(command, "re");
	if (!f)
		return false;
	if (!fgets(line, (int)size, f))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return pclose(f) == 0;
}

/* A file system in a file, on a loop device of its own. */
static bool image_mount(void)
{
	if (!run(device, sizeof(device), "losetup --show -f", image))
		return false;
	return mount(device, state, "ext4", 0, "errors=remount-ro") == 0;
}

/* Below a folder. Also before the tests, which may be skipped then. */
static bool image_make(const char *folder)
{
	char none[8];
	bool made;
	int fd;

	snprintf(state, sizeof(state), "%s/state", folder);
	snprintf(image, sizeof(image), "%s/image", folder);
	fd = open(image, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	made = fd >= 0 && ftruncate(fd, 16 << 20) == 0 && mkdir(state, 0700) == 0;
	if (fd >= 0)
		close(fd);
	return made && run(none, sizeof(none), "mkfs.ext4 -q", image) && image_mount() &&
	       chmod(state, 0700) == 0;
}

static const char *trigger(void)
{
	static char path[128];

	snprintf(path, sizeof(path), "/sys/fs/ext4/%s/trigger_fs_error",
		strrchr(device, '/') + 1);
	return path;
}

/* As ext4 does by itself when the disk fails: what is open for writing turns, too. */
static bool error_trigger(void)
{
	int fd = open(trigger(), O_WRONLY | O_CLOEXEC);
	bool done;

	if (fd < 0)
		return false;
	done = write(fd, "test\n", 5) == 5;
	close(fd);
	return done;
}

static void device_free(const char *name)
{
	char none[8];

	/* for as long as it is in use the kernel puts this off */
	run(none, sizeof(none), "losetup -d", name);
}

/* What whoever runs the machine does then: the file system is mounted anew. */
static void mount_anew(struct failing *f)
{
	struct bytes why = raw_text(failing_ask(f, "stats", NULL, NULL), "store");
	char old[64];

	ck_assert_msg(
		bytes_is(why, strerror(EROFS)), "%.*s", (int)why.len, (const char *)why.data);
	memcpy(old, device, sizeof(old));
	ck_assert_int_eq(umount2(state, MNT_DETACH), 0);
	ck_assert(image_mount());
	device_free(old);
}

START_TEST(turns_read_only)
{
	broker_init(&w.b);
	ck_assert(image_make(w.b.dir));
	failing_start(&w);
	ck_assert_msg(error_trigger(), "%s", strerror(errno));
	failing_whole(&w, mount_anew);
	ck_assert_int_eq(umount2(state, 0), 0);
	device_free(device);
	broker_fini(&w.b);
}
END_TEST

/* Whether all that the test needs is to be had. */
static bool possible(void)
{
	char dir[] = "/tmp/approvald-remount-XXXXXX";
	bool yes;

	if (!mkdtemp(dir))
		return false;
	yes = image_make(dir) && access(trigger(), W_OK) == 0;
	umount2(state, MNT_DETACH);
	if (device[0] == '/')
		device_free(device);
	rmdir(state);
	unlink(image);
	rmdir(dir);
	return yes;
}

int main(void)
{
	Suite *s = suite_create("the file system below the store fails");
	TCase *t = tcase_create("remount");
	SRunner *sr;
	int failed;

	if (!possible()) {
		printf("skipped: it needs losetup, mkfs.ext4, the right to mount, and ext4's "
		       "trigger_fs_error\n");
		return EXIT_SKIPPED;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, turns_read_only);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
