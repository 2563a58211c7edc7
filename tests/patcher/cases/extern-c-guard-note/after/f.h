#ifdef __cplusplus
extern "C" {
#endif
static const P p = { .x{1}, .y = 2 };
int api(long);
#ifdef __cplusplus
}
#endif
