/* SPDX-License-Identifier: MIT */
/*
 * A mount namespace of the test's own whose / has the folders that the cases of
 * tests/cases name, /w/proj and /home/u, beside all that is there. Nothing outside of it
 * changes.
 */
#ifndef TEST_SANDBOX_H
#define TEST_SANDBOX_H

/*
 * Enters one, with root an empty folder that becomes its /; the working directory stays the
 * same. Negative errno: there is no right to make one, and the process is of no use any more.
 */
int sandbox_enter(const char *root);
/* A folder with all above it, and with a .git in it. Fails the test. */
void sandbox_project(const char *path);
/* Only below these a folder may be made: elsewhere it would not be gone afterwards. */
int sandbox_owns(const char *path);

#endif
