package io.farheap.command;

import java.util.Locale;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/** How much of its log a process of the command line writes to standard error. */
public final class LogLevel {

    /** A system property: the least level that is written, such as {@code info} (the default) or {@code warning}. */
    public static final String PROPERTY = "farheap.log";

    /** Kept here, since the logging system forgets a logger and its level if nothing refers to it. */
    private static final Logger FARHEAP = Logger.getLogger("io.farheap");

    /**
     * gRPC's logger of a server's failed connections, such as that of a browser. It logs each with a stack of thirty
     * lines.
     */
    private static final Logger CONNECTIONS =
            Logger.getLogger("io.grpc.netty.shaded.io.grpc.netty.NettyServerTransport.connections");

    private static final int MAX_REASON_LENGTH = 200;

    private LogLevel() {}

    /**
     * Applies the property, and makes gRPC log a failed connection in one line.
     *
     * @throws IllegalArgumentException if the property names no level
     */
    public static void apply() {
        CONNECTIONS.setFilter(LogLevel::shorten);
        @Nullable String level = System.getProperty(PROPERTY);
        if (level == null) {
            return;
        }
        try {
            Level least = Level.parse(level.toUpperCase(Locale.ROOT));
            FARHEAP.setLevel(least);
            CONNECTIONS.setLevel(least);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "-D" + PROPERTY + "=" + level + " is no level of the log; write info, warning, severe or off", e);
        }
    }

    /** Replaces a stack by a sentence. The reason contains bytes that the client has sent. */
    private static boolean shorten(LogRecord record) {
        Throwable failure = record.getThrown();
        if (failure != null) {
            String reason = String.valueOf(failure.getMessage()).replaceAll("\\p{C}", "?");
            record.setThrown(null);
            record.setMessage("a connection to this process has failed ("
                    + reason.substring(0, Math.min(MAX_REASON_LENGTH, reason.length()))
                    + "); if its client is not one of Farheap's, give that another HOST:PORT");
        }
        return true;
    }
}
