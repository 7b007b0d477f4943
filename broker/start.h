/* SPDX-License-Identifier: MIT */
/* Why the broker does not start: what, why, and what is to be done, in one line of the log. */
#ifndef BROKER_START_H
#define BROKER_START_H

#include "broker/log.h"

/* err is a negative errno: as journal_open_sqlite and journal_load, service_folder (with the
 * option that names another one), and listener_open have it. */
void start_store(const struct log *log, const char *path, int err);
void start_folder(const struct log *log, const char *path, int err, const char *option);
void start_socket(const struct log *log, const char *folder, int err);

#endif
