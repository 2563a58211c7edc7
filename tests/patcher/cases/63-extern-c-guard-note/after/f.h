#ifdef __cplusplus
extern "C" {
#endif
int api(long);
#ifdef __cplusplus
}
#endif
