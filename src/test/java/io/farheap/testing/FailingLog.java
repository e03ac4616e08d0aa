package io.farheap.testing;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** A log handler that throws an error when certain messages are logged, as if memory were short. */
public final class FailingLog extends Handler implements AutoCloseable {

    private final Logger logger;
    private final Level before;
    private final String part;
    private final Error error;
    private final AtomicInteger failures = new AtomicInteger();

    /** @param part the text of the messages that fail; other tests may log other messages meanwhile */
    public FailingLog(Class<?> writer, String part, Error error) {
        this.part = part;
        this.error = error;
        logger = Logger.getLogger(writer.getName());
        before = logger.getLevel();
        logger.setLevel(Level.INFO);
        logger.addHandler(this);
    }

    /** The number of times that it has thrown the error. */
    public int failures() {
        return failures.get();
    }

    @Override
    public void publish(LogRecord logged) {
        if (logged.getMessage().contains(part)) {
            failures.incrementAndGet();
            throw error;
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        logger.removeHandler(this);
        logger.setLevel(before);
    }
}
