#ifdef __cplusplus
extern "C" {
#endif
int api(int);
#ifdef __cplusplus
}
#endif
