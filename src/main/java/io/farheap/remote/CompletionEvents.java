package io.farheap.remote;

import io.farheap.lifetime.Closing;
import io.farheap.posix.Posix;
import io.farheap.thread.Joining;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.VerbsException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Wakes the threads that sleep until a completion arrives: one daemon thread waits on the completion channels of all
 * sessions or queues of a cache. It starts with the first session that sleeps.
 */
public final class CompletionEvents implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(CompletionEvents.class.getName());
    private static final long STOP = 0;
    private static final int BATCH = 16;

    private record Source(CompletionChannel channel, Runnable wake) {}

    private final Map<Long, Source> sources = new ConcurrentHashMap<>();
    private final AtomicLong lastToken = new AtomicLong(STOP);
    private final String name;
    private int epoll = -1;
    private int stop = -1;
    private @Nullable Thread thread;
    private volatile boolean dead;

    public CompletionEvents(String name) {
        this.name = name;
    }

    /** @param wake called on this object's thread after an event; it must not wait */
    public synchronized long add(CompletionChannel channel, Runnable wake) {
        if (thread == null) {
            start();
        }
        long token = lastToken.incrementAndGet();
        sources.put(token, new Source(channel, wake));
        Posix.epollAdd(epoll, channel.fd(), token);
        return token;
    }

    /** When it returns, the channel is not touched any more. */
    public synchronized void remove(long token) {
        Source source = sources.remove(token);
        if (source == null) {
            return;
        }
        synchronized (source) {
            Posix.epollRemove(epoll, source.channel().fd());
        }
    }

    @Override
    public synchronized void close() {
        if (thread == null) {
            return;
        }
        Posix.signal(stop);
        Joining.join(thread);
        Closing.all(() -> Posix.close(stop), () -> Posix.close(epoll));
    }

    private void start() {
        epoll = Posix.epoll();
        try {
            stop = Posix.eventFd();
            Posix.epollAdd(epoll, stop, STOP);
            thread = Thread.ofPlatform().daemon().name(name + "-events").start(this::run);
        } catch (Throwable e) {
            Posix.close(epoll);
            if (stop >= 0) {
                Posix.close(stop);
            }
            throw e;
        }
    }

    private void run() {
        try {
            waitForEvents();
        } catch (Throwable e) {
            LOG.log(
                    System.Logger.Level.ERROR,
                    "thread " + Thread.currentThread().getName()
                            + " cannot go on: threads that wait for completions look for them every so often instead of sleeping"
                            + " until they come",
                    e);
            dead = true;
            sources.values().forEach(CompletionEvents::wake);
        }
    }

    private static void wake(Source source) {
        try {
            source.wake().run();
        } catch (Throwable e) {
            // The others are woken all the same.
        }
    }

    /** Whether nobody is woken any more. Who is about to sleep asks after it has made known that it sleeps. */
    public boolean dead() {
        return dead;
    }

    private void waitForEvents() {
        long[] ready = new long[BATCH];
        while (true) {
            int count = Posix.epollWait(epoll, ready);
            for (int i = 0; i < count; i++) {
                if (ready[i] == STOP) {
                    return;
                }
                Source source = sources.get(ready[i]);
                if (source != null) {
                    take(ready[i], source);
                }
            }
        }
    }

    private void take(long token, Source source) {
        synchronized (source) {
            if (!sources.containsKey(token)) {
                return;
            }
            try {
                source.channel().takeEvent();
            } catch (VerbsException e) {
                // A broken channel must not stop the others; whoever sleeps on it polls, and sees what is wrong.
                sources.remove(token);
                Posix.epollRemove(epoll, source.channel().fd());
            }
            source.wake().run();
        }
    }
}
