/* one
 * two
 * three
 */
void f() {}
