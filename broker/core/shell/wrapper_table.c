/* SPDX-License-Identifier: MIT */
/*
 * Commands that run what their words say. A new one is a line here, in the order of its
 * name. An option that the table does not know makes the text unread, since it could
 * change which word is the command.
 */
#include "broker/core/shell/wrapper.h"

#include <stdlib.h>

#define O WRAPPER_OPAQUE
#define R WRAPPER_ROOT

static const struct wrapper wrappers[] = {
	{"ash", KIND_SH, 0, 0, "", "", ""},
	{"bash", KIND_SHELL, 0, 0, "", "", ""},
	{"builtin", KIND_WORDS, WRAPPER_HERE, 0, "", "", ""},
	{"busybox", KIND_WORDS, O, 0, "", "", ""},
	{"chroot", KIND_WORDS, O | R, 1, "", "", "groups= userspec= skip-chdir "},
	{"chrt", KIND_WORDS, 0, 1, "TDP", "abdfimorpRv", ""},
	{"command", KIND_WORDS, WRAPPER_HERE, 0, "", "p", ""},
	{"csh", KIND_FOREIGN, 0, 0, "", "", ""},
	{"dash", KIND_SH, 0, 0, "", "", ""},
	{"dbus-run-session", KIND_WORDS, O, 0, "", "", "config-file= dbus-daemon= "},
	{"doas", KIND_WORDS, O | R, 0, "aCu", "Lns", ""},
	{"eatmydata", KIND_WORDS, 0, 0, "", "", ""},
	{"env", KIND_WORDS, WRAPPER_ASSIGNS, 0, "uC", "i0v",
		"ignore-environment null unset= chdir= debug "},
	{"eval", KIND_EVAL, WRAPPER_HERE, 0, "", "", ""},
	{"exec", KIND_WORDS, WRAPPER_HERE, 0, "a", "cl", ""},
	{"fakeroot", KIND_WORDS, O, 0, "lsib", "u", "lib= faked= unknown-is-real "},
	{"find", KIND_FIND, 0, 0, "", "", ""},
	{"fish", KIND_FOREIGN, 0, 0, "", "", ""},
	{"flock", KIND_OPTION, O, 1, "wE", "sxenFov",
		"shared exclusive nonblock nb wait= timeout= conflict-exit-code= close "
		"no-fork verbose "},
	{"git", KIND_GIT, 0, 0, "", "", ""},
	{"ionice", KIND_WORDS, 0, 0, "cn", "t", "class= classdata= ignore "},
	{"ksh", KIND_FOREIGN, 0, 0, "", "", ""},
	{"linux32", KIND_WORDS, 0, 0, "", "", ""},
	{"linux64", KIND_WORDS, 0, 0, "", "", ""},
	{"mksh", KIND_FOREIGN, 0, 0, "", "", ""},
	{"nice", KIND_WORDS, WRAPPER_NUMBER, 0, "n", "", "adjustment= "},
	{"nohup", KIND_WORDS, 0, 0, "", "", ""},
	{"nsenter", KIND_WORDS, O | R, 0, "tSG", "amuinpCTUFr",
		"target= all mount uts ipc net pid cgroup user time "},
	{"pkexec", KIND_WORDS, O | R, 0, "", "", "user= disable-internal-agent keep-cwd "},
	{"pwsh", KIND_FOREIGN, 0, 0, "", "", ""},
	{"rbash", KIND_SHELL, 0, 0, "", "", ""},
	{"runuser", KIND_OPTION, O | R, 0, "ugGsw", "lmpPf",
		"user= group= supp-group= login shell= preserve-environment pty fast "},
	{"script", KIND_OPTION, O, 0, "EImoBOT", "aefqrt",
		"append return flush force quiet log-out= log-in= log-io= log-timing= "},
	{"setpriv", KIND_WORDS, O, 0, "", "", ""},
	{"setsid", KIND_WORDS, 0, 0, "", "cfw", "ctty fork wait "},
	{"sh", KIND_SH, 0, 0, "", "", ""},
	{"stdbuf", KIND_WORDS, 0, 0, "ioe", "", "input= output= error= "},
	{"strace", KIND_WORDS, O, 0, "aeIoOpPsSuEUXb", "cCdDfFhiknqrtTvVwxyYzZ", ""},
	{"su", KIND_OPTION, O | R, 0, "gGsw", "lmpPf",
		"group= supp-group= login shell= preserve-environment pty fast "},
	{"sudo", KIND_WORDS, O | R | WRAPPER_ASSIGNS, 0, "CDghpRrtTUu", "AbBEeHiKklnPSsVv",
		"askpass background bell close-from= chdir= preserve-env? edit group= "
		"set-home host= login list non-interactive preserve-groups prompt= chroot= "
		"role= stdin shell type= command-timeout= other-user= user= validate "
		"reset-timestamp remove-timestamp "},
	{"systemd-run", KIND_WORDS, O, 0, "HMupE", "rPqSGtd",
		"user system scope unit= property= description= slice= wait pty pipe quiet "
		"collect shell same-dir working-directory= setenv= uid= gid= nice= "},
	{"taskset", KIND_WORDS, 0, 1, "", "acp", "all-tasks cpu-list "},
	{"tcsh", KIND_FOREIGN, 0, 0, "", "", ""},
	{"time", KIND_WORDS, 0, 0, "f", "apv", "portability verbose "},
	{"timeout", KIND_WORDS, 0, 1, "ks", "v",
		"kill-after= signal= foreground preserve-status verbose "},
	{"trap", KIND_TRAP, WRAPPER_HERE, 0, "", "", ""},
	{"unbuffer", KIND_WORDS, O, 0, "", "p", ""},
	{"unshare", KIND_WORDS, O | R, 0, "SGRw", "muinpUCTfrc",
		"mount uts ipc net pid user cgroup time fork map-root-user mount-proc "},
	{"watch", KIND_JOINED, O, 0, "nq", "bcCdegprtvx",
		"beep color differences errexit chgexit interval= precise no-title no-wrap "},
	{"xargs", KIND_WORDS, O | WRAPPER_MORE, 0, "adEInLsP", "0eilprtxo",
		"null arg-file= delimiter= max-lines? max-args= max-procs= max-chars= "
		"interactive no-run-if-empty verbose exit open-tty eof? "
		"process-slot-var= show-limits "},
	{"xvfb-run", KIND_WORDS, O, 0, "efnps", "al",
		"auto-servernum error-file= auth-file= server-num= server-args= "},
	{"zsh", KIND_FOREIGN, 0, 0, "", "", ""},
};

#undef O
#undef R

static int compare(const void *key, const void *entry)
{
	const struct wrapper *const e = entry;

	return bytes_compare(*(const struct bytes *)key, bytes_of(e->name));
}

const struct wrapper *wrapper_find(struct bytes name)
{
	return bsearch(&name, wrappers, sizeof(wrappers) / sizeof(*wrappers), sizeof(*wrappers),
		compare);
}
