package io.farheap.cache;

import io.farheap.posix.Posix;
import io.farheap.thread.Joining;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.VerbsException;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Wakes the threads that sleep until a completion arrives: one daemon thread waits on the completion channels of all sessions of a
 * cache. It starts with the first session that sleeps.
 */
final class CompletionEvents implements AutoCloseable {

    private static final long STOP = 0;
    private static final int BATCH = 16;

    private record Source(CompletionChannel channel, Runnable wake) {
    }

    private final Map<Long, Source> sources = new ConcurrentHashMap<>();
    private final AtomicLong lastToken = new AtomicLong(STOP);
    private final String name;
    private int epoll = -1;
    private int stop = -1;
    private Thread thread;

    CompletionEvents(String name) {
        this.name = name;
    }

    /** @param wake called on this object's thread after an event; it must not wait */
    synchronized long add(CompletionChannel channel, Runnable wake) {
        if (thread == null) {
            start();
        }
        long token = lastToken.incrementAndGet();
        sources.put(token, new Source(channel, wake));
        Posix.epollAdd(epoll, channel.fd(), token);
        return token;
    }

    /** When it returns, the channel is not touched any more. */
    synchronized void remove(long token) {
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
        Posix.close(stop);
        Posix.close(epoll);
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
