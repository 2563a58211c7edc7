#include "acl.h"

int acl_first(int n)
{
    if (n > 1) {
        note(n);
    }
}

int acl_second(int n)
{
    if (n > 2) {
        note(n);
    }
}

static void trim(void)
{
    drop_oldest();
}

/* Adds an entry to the log, and makes sure that the oldest one
 * goes if there are as many as allowed. The current ones are
 * looked through for one like it, whose count is raised in
 * that case.
 */
int acl_log(int n)
{
    if (n > 3) {
        note(n);
    }
}
