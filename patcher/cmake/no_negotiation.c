// In place of libgit2's own in static_libgit2.cmake: how a server that wants Kerberos is answered.
// The patcher speaks to no server.
int git_http_auth_negotiate(void** out, const void* url);

int git_http_auth_negotiate(void** out, const void* url) {
  (void)url;
  *out = 0;
  return -1;
}
