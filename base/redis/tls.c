/* SPDX-License-Identifier: MIT */
/* tls.c -- the certificates of one URL. */
#include "base/redis/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/redis/outcome.h"

struct redis_tls {
    SSL_CTX *ctx;
    char why_not[REDIS_WHY_SIZE];
};

/* Refuse a key with a passphrase, because a library must not ask the terminal for
 * it. */
static int no_passphrase(char *phrase, int size, int writes, void *arg)
{
    (void)phrase;
    (void)size;
    (void)writes;
    (void)arg;
    return -1;
}

/* Keep OpenSSL's first error, because it names the cause: no such file, or no PEM in
 * it. */
static void refuse_file(struct redis_tls *tls, const char *what, const char *file)
{
    unsigned long error = ERR_peek_error();
    const char *reason = ERR_SYSTEM_ERROR(error) ? strerror(ERR_GET_REASON(error))
                                                 : ERR_reason_error_string(error);

    snprintf(tls->why_not, sizeof(tls->why_not), "TLS: the %s%.80s cannot be used: %s", what,
             file, reason != NULL ? reason : "no certificate or key in it");
    ERR_clear_error();
}

static void load_files(struct redis_tls *tls, const struct redis_url *url)
{
    ERR_clear_error();
    if (url->ca_file[0] == '\0' && SSL_CTX_set_default_verify_paths(tls->ctx) != 1)
        refuse_file(tls, "system's store of authorities", "");
    else if (url->ca_file[0] != '\0' && SSL_CTX_load_verify_file(tls->ctx, url->ca_file) != 1)
        refuse_file(tls, "file ca=", url->ca_file);
    else if (url->cert_file[0] != '\0' &&
             SSL_CTX_use_certificate_chain_file(tls->ctx, url->cert_file) != 1)
        refuse_file(tls, "file cert=", url->cert_file);
    else if (url->key_file[0] != '\0' &&
             SSL_CTX_use_PrivateKey_file(tls->ctx, url->key_file, SSL_FILETYPE_PEM) != 1)
        refuse_file(tls, "file key=", url->key_file);
    ERR_clear_error();
}

static void set_rules(SSL_CTX *ctx)
{
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    (void)SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    /* The protocol of Redis shows the end of each reply, so an unexpected end of the
     * stream counts as a closed connection. */
    (void)SSL_CTX_set_options(ctx, SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION);
    (void)SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    (void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_default_passwd_cb(ctx, no_passphrase);
}

static void close_tls(struct redis_tls *tls)
{
    SSL_CTX_free(tls->ctx);
    free(tls);
}

bool redis_tls_make(struct redis_url *url)
{
    struct redis_tls *tls;

    url->tls = NULL;
    if (!url->is_encrypted)
        return true;
    tls = calloc(1, sizeof(*tls));
    if (tls == NULL)
        return false;
    tls->ctx = SSL_CTX_new(TLS_client_method());
    if (tls->ctx == NULL) {
        ERR_clear_error();
        close_tls(tls);
        return false;
    }
    set_rules(tls->ctx);
    load_files(tls, url);
    url->tls = tls;
    return true;
}

void redis_tls_drop(struct redis_url *url)
{
    if (url->tls != NULL)
        close_tls((struct redis_tls *)(uintptr_t)url->tls);
    url->tls = NULL;
}

const char *redis_tls_why_not(const struct redis_tls *tls)
{
    return tls->why_not;
}

struct ssl_ctx_st *redis_tls_context(const struct redis_tls *tls)
{
    return tls->ctx;
}
