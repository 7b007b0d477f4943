/* SPDX-License-Identifier: MIT */
/* What SQLite answers, in the errors of the journal. */
#include "broker/store/sqlite_private.h"

#include <errno.h>

int sqlite_system_errno(int err)
{
	switch (err) {
	case ENOSPC:
	case EFBIG:
	case EDQUOT: return -ENOSPC;
	case EACCES:
	case EPERM:
	case EROFS: return -EROFS;
	case ENOMEM: return -ENOMEM;
	case ELOOP: return -ELOOP;
	default: return -EIO;
	}
}

/* What failed in a commit is known only to the file that it failed on. */
static int last_errno(sqlite3 *db)
{
	sqlite3_file *wal = NULL;
	int err = sqlite3_system_errno(db);

	if (!err && sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal) == 0 &&
		wal && wal->pMethods)
		wal->pMethods->xFileControl(wal, SQLITE_FCNTL_LAST_ERRNO, &err);
	if (!err)
		sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &err);
	return err;
}

int sqlite_errno(sqlite3 *db, int rc)
{
	if (rc == SQLITE_IOERR_NOMEM)
		return -ENOMEM;
	switch (rc & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE: return 0;
	case SQLITE_FULL: return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL: return -EBUSY;
	case SQLITE_READONLY: return rc == SQLITE_READONLY_DBMOVED ? -EIO : -EROFS;
	case SQLITE_PERM:
	case SQLITE_AUTH: return -EROFS;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_FORMAT: return -EUCLEAN;
	case SQLITE_NOMEM: return -ENOMEM;
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN: return sqlite_system_errno(last_errno(db));
	default: return -EIO;
	}
}

int sqlite_error(struct sqlite *s, int rc)
{
	int err = sqlite_errno(s->db, rc);

	/* a full disk, a lock held by somebody and a lack of memory pass by themselves */
	if (err && err != -EBUSY && err != -ENOMEM && (rc & 0xff) != SQLITE_FULL)
		s->suspect = true;
	return err;
}

int sqlite_exec(sqlite3 *db, const char *sql)
{
	return sqlite_errno(db, sqlite3_exec(db, sql, NULL, NULL, NULL));
}

int sqlite_integer(sqlite3 *db, const char *sql, int64_t *out)
{
	sqlite3_stmt *stmt SQLITE_SCOPED = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

	*out = 0;
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		*out = sqlite3_column_int64(stmt, 0);
	return sqlite_errno(db, rc);
}

int sqlite_prepare(struct sqlite *s, const char *sql, sqlite3_stmt **out)
{
	return sqlite_error(s, sqlite3_prepare_v2(s->db, sql, -1, out, NULL));
}
