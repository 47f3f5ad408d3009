/* SPDX-License-Identifier: MIT */
/* tls_stream.c -- one stream of TLS over one socket.
 *
 * OpenSSL allows one thread at a time to use a stream.  No call blocks while it holds the
 * mutex. */
#include "base/redis/tls_stream.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/os/mutex.h"
#include "base/redis/outcome.h"
#include "base/redis/tls.h"

/* OpenSSL goes on reading while a server sends what it ignores, so each call has a bound. */
enum { READ_MOST = 1 << 16 };

struct redis_tls_stream {
    SSL *ssl;
    BIO_METHOD *method; /* OpenSSL's access to the socket */
    int fd;
    struct dlock_mutex mutex; /* protects all that follows, except the atomics */
    bool is_open;             /* the handshake is done */
    bool has_ended;           /* the server has closed */
    int error;                /* of the socket; 0: none */
    int read_left;            /* bytes that OpenSSL may still read in this call */
    char name[REDIS_HOST_MAX + 1]; /* the name that the certificate must have */
    char why[REDIS_WHY_SIZE];      /* the first failure; "": none */
    atomic_bool has_more;
    atomic_int shake_events;
};

/* ---- the socket, for OpenSSL ---- */

/* Tell OpenSSL that a call would block, or keep its errno. */
static void note_failure(BIO *bio, struct redis_tls_stream *stream, int retry)
{
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        BIO_set_flags(bio, retry | BIO_FLAGS_SHOULD_RETRY);
    else
        stream->error = errno;
}

static int read_socket(BIO *bio, char *bytes, int size)
{
    struct redis_tls_stream *stream = BIO_get_data(bio);
    ssize_t got;

    BIO_clear_retry_flags(bio);
    if (stream->read_left <= 0) {
        BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY);
        return -1;
    }
    do
        got = recv(stream->fd, bytes, (size_t)size, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        note_failure(bio, stream, BIO_FLAGS_READ);
    else
        stream->read_left -= (int)got;
    stream->has_ended = got == 0;
    return (int)got;
}

static int write_socket(BIO *bio, const char *bytes, int len)
{
    struct redis_tls_stream *stream = BIO_get_data(bio);
    ssize_t sent;

    BIO_clear_retry_flags(bio);
    do
        sent = send(stream->fd, bytes, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    if (sent < 0)
        note_failure(bio, stream, BIO_FLAGS_WRITE);
    return (int)sent;
}

static long control(BIO *bio, int command, long number, void *arg)
{
    const struct redis_tls_stream *stream = BIO_get_data(bio);

    (void)number;
    (void)arg;
    if (command == BIO_CTRL_EOF)
        return stream->has_ended;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *new_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "redis_tls_stream");

    if (method != NULL && BIO_meth_set_read(method, read_socket) == 1 &&
        BIO_meth_set_write(method, write_socket) == 1 &&
        BIO_meth_set_ctrl(method, control) == 1)
        return method;
    BIO_meth_free(method);
    return NULL;
}

/* ---- failures ---- */

/* Write the reason of OpenSSL's last failure in this thread, and clear OpenSSL's
 * errors. */
static void take_words(char words[REDIS_WHY_SIZE])
{
    unsigned long error = ERR_peek_last_error();
    const char *reason = ERR_SYSTEM_ERROR(error) ? strerror(ERR_GET_REASON(error))
                                                 : ERR_reason_error_string(error);

    snprintf(words, REDIS_WHY_SIZE, "%s", reason != NULL ? reason : "the stream is broken");
    ERR_clear_error();
}

/* Add to the reason what to do about a certificate that was not accepted. */
static void tell_of_certificate(struct redis_tls_stream *stream, long verdict)
{
    char advice[REDIS_WHY_SIZE] = "";

    if (verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH)
        snprintf(advice, sizeof(advice),
                 ": the certificate is not for %.60s (server-name= expects another)",
                 stream->name);
    else if (verdict == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
             verdict == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN ||
             verdict == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT)
        snprintf(advice, sizeof(advice), ": ca=FILE names the authority to trust");
    snprintf(stream->why, sizeof(stream->why), "TLS: %s%.100s",
             X509_verify_cert_error_string(verdict), advice);
}

static void tell_of_failure(struct redis_tls_stream *stream)
{
    unsigned long error = ERR_peek_last_error();
    int reason = ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0;
    long verdict = SSL_get_verify_result(stream->ssl);
    const char *advice = "";
    char words[REDIS_WHY_SIZE];

    take_words(words);
    if (stream->why[0] != '\0')
        return;
    if (!stream->is_open && verdict != X509_V_OK) {
        tell_of_certificate(stream, verdict);
        return;
    }
    if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_PACKET_LENGTH_TOO_LONG)
        advice = ": the port does not use TLS (redis:// is without TLS)";
    else if (reason == SSL_R_TLSV1_ALERT_PROTOCOL_VERSION ||
             reason == SSL_R_UNSUPPORTED_PROTOCOL)
        advice = ": the server speaks no TLS 1.2 (its setting is tls-protocols)";
    else if (reason == SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED ||
             reason == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE)
        advice = ": the server wants a certificate of this client (cert=FILE, key=FILE)";
    snprintf(stream->why, sizeof(stream->why), "TLS: %.70s%s", words, advice);
}

/* Judge an unsuccessful answer `rc` of OpenSSL. Returns 0: the server has closed; or an
 * errno. */
static int judge(struct redis_tls_stream *stream, int rc)
{
    switch (SSL_get_error(stream->ssl, rc)) {
    case SSL_ERROR_WANT_READ:
        atomic_store(&stream->shake_events, POLLIN);
        return EAGAIN;
    case SSL_ERROR_WANT_WRITE:
        atomic_store(&stream->shake_events, POLLOUT);
        return EAGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    case SSL_ERROR_SYSCALL:
        ERR_clear_error();
        return stream->error != 0 ? stream->error : stream->has_ended ? 0 : ECONNRESET;
    default:
        tell_of_failure(stream);
        return EPROTO;
    }
}

/* ---- the stream ---- */

/* Set the expected name, for SNI, so that a server with several names can choose a
 * certificate, and for the check of the certificate. */
static bool expect_name(SSL *ssl, const char *name)
{
    ASN1_OCTET_STRING *address = a2i_IPADDRESS(name);

    ERR_clear_error();
    if (address != NULL) {
        ASN1_OCTET_STRING_free(address);
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
    }
    return SSL_set1_host(ssl, name) == 1 && SSL_set_tlsext_host_name(ssl, name) == 1;
}

struct redis_tls_stream *redis_tls_begin(const struct redis_url *url, int fd)
{
    struct redis_tls_stream *stream = calloc(1, sizeof(*stream));
    BIO *bio;

    if (stream == NULL)
        return NULL;
    dlock_mutex_init(&stream->mutex);
    stream->fd = fd;
    atomic_store(&stream->shake_events, POLLOUT);
    snprintf(stream->name, sizeof(stream->name), "%s",
             url->server_name[0] != '\0' ? url->server_name : url->host);
    stream->ssl = SSL_new(redis_tls_context(url->tls));
    stream->method = new_method();
    bio = stream->method != NULL ? BIO_new(stream->method) : NULL;
    if (stream->ssl == NULL || bio == NULL ||
        !expect_name(stream->ssl, stream->name)) {
        ERR_clear_error();
        BIO_free(bio);
        redis_tls_end(stream);
        return NULL;
    }
    BIO_set_data(bio, stream);
    BIO_set_init(bio, 1);
    SSL_set_bio(stream->ssl, bio, bio);
    return stream;
}

void redis_tls_end(struct redis_tls_stream *stream)
{
    if (stream == NULL)
        return;
    SSL_free(stream->ssl);
    BIO_meth_free(stream->method);
    dlock_mutex_destroy(&stream->mutex);
    free(stream);
}

int redis_tls_shake(struct redis_tls_stream *stream)
{
    int error = 0;
    int rc;

    dlock_mutex_lock(&stream->mutex);
    ERR_clear_error();
    stream->read_left = READ_MOST;
    rc = SSL_connect(stream->ssl);
    stream->is_open = rc == 1;
    if (rc != 1)
        error = judge(stream, rc);
    if (rc != 1 && error == 0) {
        snprintf(
            stream->why, sizeof(stream->why),
            "the server closed the connection in the handshake of TLS: is its port one of TLS?");
        error = EPROTO;
    }
    atomic_store(&stream->has_more, rc == 1 && SSL_has_pending(stream->ssl));
    dlock_mutex_unlock(&stream->mutex);
    return error;
}

short redis_tls_shake_events(const struct redis_tls_stream *stream)
{
    return (short)atomic_load(&stream->shake_events);
}

ssize_t redis_tls_send(struct redis_tls_stream *stream, const char *bytes, size_t len)
{
    size_t sent = 0;
    ssize_t answer;
    int rc;

    dlock_mutex_lock(&stream->mutex);
    ERR_clear_error();
    stream->read_left = READ_MOST;
    rc = SSL_write_ex(stream->ssl, bytes, len, &sent);
    answer = (ssize_t)sent;
    if (rc != 1) {
        int error = judge(stream, rc);

        answer = error != 0 ? -error : -EPIPE;
    }
    dlock_mutex_unlock(&stream->mutex);
    return answer;
}

ssize_t redis_tls_receive(struct redis_tls_stream *stream, char *bytes, size_t size)
{
    size_t got = 0;
    ssize_t answer;
    int rc;

    dlock_mutex_lock(&stream->mutex);
    ERR_clear_error();
    stream->read_left = READ_MOST;
    rc = SSL_read_ex(stream->ssl, bytes, size, &got);
    answer = rc == 1 ? (ssize_t)got : -judge(stream, rc);
    /* After a WANT_READ only a part of a record is left, and the rest has still to
     * arrive. */
    atomic_store(&stream->has_more, rc == 1 && SSL_has_pending(stream->ssl));
    dlock_mutex_unlock(&stream->mutex);
    return answer;
}

bool redis_tls_has_more(const struct redis_tls_stream *stream)
{
    return atomic_load(&stream->has_more);
}

const char *redis_tls_why(const struct redis_tls_stream *stream)
{
    return stream->why[0] != '\0' ? stream->why : NULL;
}
