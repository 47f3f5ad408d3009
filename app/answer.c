/* SPDX-License-Identifier: MIT */
/* answer.c -- writes the answers that are common to all handlers, and the head of every
 * answer. */
#include <string.h>

#include "app/request.h"
#include "base/http/status.h"

enum face face_of(const char *path)
{
    return strncmp(path, "/voucher", 8) == 0 ? FACE_COURSE : FACE_API;
}

void answer_json(struct answer *an, int status)
{
    text_clear(an->body);
    an->status = status;
    an->type = "application/json";
}

static void write_course(const struct request *rq, struct answer *an,
                         const struct outcome_info *info, const char *detail)
{
    an->type = "application/json";
    if (info->status == 401)
        return; /* no body, as in the courses */
    text_add(an->body, "{\"success\":false,\"errorMsg\":\"%s\"", info->course_message);
    if (detail != NULL) {
        text_add(an->body, ",\"detail\":");
        text_add_json(an->body, detail);
    }
    if (info->status >= 500)
        text_add(an->body, ",\"requestId\":\"%s\"", rq->id);
    text_add(an->body, "}");
}

static void write_problem(const struct request *rq, struct answer *an,
                          const struct outcome_info *info, int status,
                          const char *detail)
{
    an->type = "application/problem+json";
    text_add(an->body,
             "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%d,"
             "\"outcome\":\"%s\",\"requestId\":\"%s\"",
             info->title, status, info->name, rq->id);
    if (detail != NULL) {
        text_add(an->body, ",\"detail\":");
        text_add_json(an->body, detail);
    }
    text_add(an->body, "}");
}

void answer_status(const struct request *rq, struct answer *an, enum face face,
                   enum outcome outcome, int status, const char *detail)
{
    const struct outcome_info *info = outcome_info(outcome);

    text_clear(an->body);
    an->outcome = outcome;
    an->status = status;
    if (face == FACE_COURSE)
        write_course(rq, an, info, detail);
    else
        write_problem(rq, an, info, status, detail);
}

void answer_outcome(const struct request *rq, struct answer *an, enum face face,
                    enum outcome outcome, const char *detail)
{
    const struct outcome_info *info = outcome_info(outcome);

    if (outcome == OUTCOME_DATABASE_BUSY && detail == NULL && rq->worker != NULL)
        detail = rq->worker->busy_why;
    answer_status(rq, an, face, outcome,
                  face == FACE_COURSE ? info->course_status : info->status, detail);
}

/* Does the answer have a body?  A HEAD is answered like a GET, with the same length,
 * but without the body, which the client would take for the beginning of the next
 * answer. */
static bool has_body(const struct request *rq, const struct answer *an)
{
    const char *method = rq->head->method;

    return an->body->len > 0 && (method == NULL || strcmp(method, "HEAD") != 0);
}

/* Write the fault of the token as in RFC 6750, because refusals of the course face have
 * no body. */
static void write_challenge(const struct answer *an, struct text *out)
{
    if (an->status != 401 && an->refused == NULL)
        return;
    text_add(out, "WWW-Authenticate: Bearer");
    if (an->refused != NULL)
        text_add(out, " error=\"%s\", error_description=\"%s\"",
                 an->status == 401 ? "invalid_token" : "insufficient_scope",
                 an->refused);
    text_add(out, "\r\n");
}

/* Write the span of the service's work, for the client to record, as in W3C's draft of
 * Trace Response Headers. */
static void write_trace(const struct request *rq, struct text *out)
{
    char value[TRACE_HEADER_LEN + 1];

    trace_format(&rq->trace, value);
    text_add(out, "traceresponse: %s\r\n", value);
}

void answer_write(const struct request *rq, struct answer *an, bool closes,
                  struct text *out)
{
    if (an->body->broken) {
        text_clear(an->body);
        an->status = 500;
    }
    text_clear(out);
    text_add(out,
             "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
             "X-Outcome: %s\r\nX-Request-Id: %s\r\nCache-Control: no-store\r\n"
             "X-Content-Type-Options: nosniff\r\nConnection: %s\r\n",
             an->status, http_status_reason(an->status), an->type, an->body->len,
             outcome_info(an->outcome)->name, rq->id, closes ? "close" : "keep-alive");
    if (rq->is_traced)
        write_trace(rq, out);
    if (outcome_is_passing(an->outcome))
        text_add(out, "Retry-After: 1\r\n");
    write_challenge(an, out);
    if (an->allow != NULL)
        text_add(out, "Allow: %s\r\n", an->allow);
    if (an->location[0] != '\0')
        text_add(out, "Location: %s\r\n", an->location);
    if (an->next[0] != '\0')
        text_add(out, "Link: <%s>; rel=\"next\"\r\n", an->next);
    text_add(out, "\r\n%s", has_body(rq, an) ? an->body->bytes : "");
}
