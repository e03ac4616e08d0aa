package io.farheap.command;

import java.util.Locale;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/** How much of its log a process of the command line writes to standard error. */
public final class LogLevel {

    /** A system property: the least level that is written, such as {@code info} (the default) or {@code warning}. */
    public static final String PROPERTY = "farheap.log";

    /** Kept here, since the logging system forgets a logger and its level if nothing refers to it. */
    private static final Logger FARHEAP = Logger.getLogger("io.farheap");

    private LogLevel() {}

    /**
     * Applies the property.
     *
     * @throws IllegalArgumentException if it names no level
     */
    public static void apply() {
        @Nullable String level = System.getProperty(PROPERTY);
        if (level == null) {
            return;
        }
        try {
            FARHEAP.setLevel(Level.parse(level.toUpperCase(Locale.ROOT)));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "-D" + PROPERTY + "=" + level + " is no level of the log; write info, warning, severe or off", e);
        }
    }
}
