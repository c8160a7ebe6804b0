# A cache in front of `teewire relay --http 8080`, for Varnish 6 and 7: what the relay says of how long things may be kept
# is all that there is to know, and questions for the same file wait for one answer by themselves.
vcl 4.1;

backend relay {
    .host = "127.0.0.1";
    .port = "8080";
    .first_byte_timeout = 10s;
}

sub vcl_recv {
    unset req.http.Cookie;
    if (req.url == "/metrics") {
        return (synth(403));
    }
    if (req.url == "/events") {
        return (pipe);
    }
}

sub vcl_backend_response {
    # Nothing is handed out that is older than it may be.
    set beresp.grace = 0s;
    if (beresp.status != 200) {
        set beresp.ttl = 0s;
        # Those who wait for something that is not there ask again, each for himself.
        set beresp.uncacheable = false;
    }
}
