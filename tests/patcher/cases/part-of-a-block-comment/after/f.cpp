/* one
 * 2
 * three
 */
void f() {}
