// In place of libgit2's own in static_libgit2.cmake: the patcher speaks to no server.

// How a server that wants Kerberos is answered.
int git_http_auth_negotiate(void** out, const void* url);

int git_http_auth_negotiate(void** out, const void* url) {
  (void)url;
  *out = 0;
  return -1;
}

// What makes TLS ready. libgit2's own reads all certificates of the system whenever it starts, which takes as long as
// a dry run.
int __wrap_git_mbedtls_stream_global_init(void);

int __wrap_git_mbedtls_stream_global_init(void) {
  return 0;
}
