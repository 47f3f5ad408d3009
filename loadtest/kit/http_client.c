/* SPDX-License-Identifier: MIT */
/* http_client.c -- short HTTP requests, by way of libcurl. */
#include "loadtest/kit/http_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "loadtest/kit/memory.h"

/* libcurl's callback: what does not fit is dropped. */
static size_t take(char *data, size_t size, size_t count, void *arg)
{
    struct http_answer *answer = arg;
    size_t room = sizeof answer->text - 1 - answer->size;
    size_t n = size * count < room ? size * count : room;

    memcpy(answer->text + answer->size, data, n);
    answer->size += n;
    answer->text[answer->size] = '\0';
    return size * count;
}

static CURL *handle(void)
{
    static CURL *curl;

    if (!curl) {
        curl_global_init(CURL_GLOBAL_DEFAULT);
        curl = memory_need(curl_easy_init());
    }
    curl_easy_reset(curl); /* keeps the open connections */
    return curl;
}

static void prepare(CURL *curl, const char *url, const char *token, int64_t timeout_ms)
{
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
    curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, token);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* never through $http_proxy */
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
}

bool http_client_ask(const char *method, const char *url, const char *token,
                     struct http_answer *answer)
{
    return http_client_ask_within(method, url, token, HTTP_CLIENT_TIMEOUT_MS, answer);
}

bool http_client_ask_within(const char *method, const char *url, const char *token,
                            int64_t timeout_ms, struct http_answer *answer)
{
    CURL *curl = handle();
    char *address = "";
    long port = 0;
    CURLcode rc;

    answer->status = 0;
    answer->address[0] = '\0';
    answer->size = 0;
    answer->text[0] = '\0';
    prepare(curl, url, token, timeout_ms);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    if (strcmp(method, "POST") == 0) {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, 0L);
    }
    rc = curl_easy_perform(curl);
    if (rc != CURLE_OK) {
        snprintf(answer->text, sizeof answer->text, "%s", curl_easy_strerror(rc));
        return false;
    }
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer->status);
    curl_easy_getinfo(curl, CURLINFO_PRIMARY_IP, &address);
    curl_easy_getinfo(curl, CURLINFO_PRIMARY_PORT, &port);
    snprintf(answer->address, sizeof answer->address, "[%s]:%ld", address, port);
    return true;
}

/* libcurl's callback: all of it goes to a stream. */
static size_t take_all(char *data, size_t size, size_t count, void *arg)
{
    return size * fwrite(data, size, count, arg);
}

char *http_client_read(const char *url, const char *token, int64_t timeout_ms)
{
    CURL *curl = handle();
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_need(open_memstream(&text, &size));
    long status = 0;

    prepare(curl, url, token, timeout_ms);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_all);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, out);
    if (curl_easy_perform(curl) == CURLE_OK)
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (fclose(out) == 0 && status == 200)
        return text;
    free(text);
    return NULL;
}
