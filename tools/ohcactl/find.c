// SPDX-License-Identifier: GPL-2.0
/* Control sockets of ohcads that run as services. */

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "find.h"

/* As ohcad@.service has it */
#define SOCKETS "/run/ohcad/*/control"

char *find_socket(void)
{
	char *path = NULL;
	glob_t found;
	size_t i;

	if (glob(SOCKETS, 0, NULL, &found)) {
		fprintf(stderr, "ohcactl: no socket is given, and there is no " SOCKETS "\n");
		return NULL;
	}
	if (found.gl_pathc == 1) {
		path = strdup(found.gl_pathv[0]);
	} else {
		fprintf(stderr, "ohcactl: no socket is given, and there are several:");
		for (i = 0; i < found.gl_pathc; i++)
			fprintf(stderr, " %s", found.gl_pathv[i]);
		fprintf(stderr, "\n");
	}
	globfree(&found);
	return path;
}
