/* SPDX-License-Identifier: MIT */
/* The file of rules that a project brings along. */
#ifndef IO_PROJECT_FILE_H
#define IO_PROJECT_FILE_H

#include <stddef.h>
#include <stdint.h>

#define PROJECT_RULES ".approvald/rules" /* below the project's folder */
#define PROJECT_HASH  32		 /* bytes of the SHA-256 of the whole file */

enum project_file_state {
	PROJECT_FILE_UNREAD, /* nothing is known */
	PROJECT_FILE_MISSING,
	PROJECT_FILE_SAME, /* it has the hash that was known */
	PROJECT_FILE_NEW,
	PROJECT_FILE_BAD, /* there is something that can't be used */
};

struct project_file {
	enum project_file_state state;
	uint8_t hash[PROJECT_HASH]; /* SAME, NEW */
	char *text;		    /* NEW; also of an empty file not NULL */
	size_t len;
	uint32_t rules; /* lines that hold one */
	int64_t changed;     /* NEW: wall clock, microseconds */
	const char *problem; /* BAD: a constant */
	int error;	     /* BAD: the positive errno behind it; 0: none */
};

/*
 * Reads it whole, under root (an O_PATH descriptor), of a project that is an absolute path
 * without links, and takes no link on the way: the project's own, too, could be led
 * elsewhere. *file begins zeroed. 0, or -ENOMEM: nothing is known. May wait for the disk.
 */
int project_file_read(int root, const char *project, const uint8_t known[PROJECT_HASH],
	struct project_file *file);
void project_file_free(struct project_file *file); /* NULL is fine */

#endif
