package io.farheap.remote.device;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.posix.Epoll;
import io.farheap.posix.EventFd;
import io.farheap.thread.ThreadJoiner;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.VerbsException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Wakes the threads that sleep until a completion arrives: one daemon thread waits on the completion channels of all
 * sessions or queues of a cache. It starts with the first session that sleeps.
 */
public final class CompletionEvents implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(CompletionEvents.class.getName());
    private static final long STOP = 0;
    private static final int BATCH = 16;

    /** A channel that is watched. Its monitor guards every use of it. */
    private static final class Source {

        final long token;
        final CompletionChannel channel;
        final Runnable wake;
        boolean removed;

        Source(long token, CompletionChannel channel, Runnable wake) {
            this.token = token;
            this.channel = channel;
            this.wake = wake;
        }
    }

    private final String name;
    /** All sources, in the order of their tokens. Replaced with this object's monitor held. */
    private volatile Source[] sources = {};

    private long lastToken = STOP;
    private @Nullable Epoll epoll;
    private @Nullable EventFd stop;
    private @Nullable Thread thread;
    private volatile boolean dead;

    public CompletionEvents(String name) {
        this.name = name;
    }

    /** @param wake called on this object's thread after an event; it must not wait */
    public synchronized long add(CompletionChannel channel, Runnable wake) {
        Epoll now = epoll == null ? start() : epoll;
        Source source = new Source(++lastToken, channel, wake);
        now.add(channel.fd(), source.token);
        Source[] all = Arrays.copyOf(sources, sources.length + 1);
        all[all.length - 1] = source;
        sources = all;
        return source.token;
    }

    /** Stops watching: when it returns, this object does not touch the channel any more. */
    public synchronized void remove(long token) {
        Source source = find(token);
        if (source == null) {
            return;
        }
        sources = Arrays.stream(sources).filter(other -> other != source).toArray(Source[]::new);
        synchronized (source) {
            end(source);
        }
    }

    // A source exists only once there is an epoll.
    @SuppressWarnings("NullAway")
    private void end(Source source) {
        if (!source.removed) {
            source.removed = true;
            epoll.remove(source.channel.fd());
        }
    }

    private @Nullable Source find(long token) {
        Source[] all = sources;
        int low = 0;
        int high = all.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (all[middle].token == token) {
                return all[middle];
            }
            if (all[middle].token < token) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return null;
    }

    @Override
    public synchronized void close() {
        if (thread == null || stop == null) {
            return;
        }
        stop.signal();
        ThreadJoiner.join(thread);
        Closeables.all(stop, epoll);
    }

    private Epoll start() {
        try (CloseStack stack = new CloseStack()) {
            Epoll made = stack.add(new Epoll(BATCH));
            EventFd ends = stack.add(new EventFd());
            made.add(ends.fd(), STOP);
            thread = Thread.ofPlatform().daemon().name(name + "-events").start(() -> run(made));
            epoll = made;
            stop = ends;
            stack.keep();
            return made;
        }
    }

    private void run(Epoll waits) {
        try {
            waitForEvents(waits);
        } catch (Throwable e) {
            LOG.log(
                    System.Logger.Level.ERROR,
                    "thread " + Thread.currentThread().getName()
                            + " cannot continue: threads that wait for completions poll for them from time to time"
                            + " instead of sleeping until they come",
                    e);
            dead = true;
            for (Source source : sources) {
                wake(source);
            }
        }
    }

    private static void wake(Source source) {
        try {
            source.wake.run();
        } catch (Throwable e) {
            // The other threads are woken all the same.
        }
    }

    /**
     * Whether its thread has died, so that it wakes no thread any more. A thread that is about to sleep asks this after
     * it has published that it sleeps.
     */
    public boolean dead() {
        return dead;
    }

    private void waitForEvents(Epoll waits) {
        while (true) {
            int count = waits.await();
            for (int i = 0; i < count; i++) {
                if (waits.token(i) == STOP) {
                    return;
                }
                Source source = find(waits.token(i));
                if (source != null) {
                    take(source);
                }
            }
        }
    }

    private void take(Source source) {
        synchronized (source) {
            if (source.removed) {
                return;
            }
            try {
                source.channel.takeEvent();
            } catch (VerbsException e) {
                // A broken channel must not stop the others; a thread that sleeps on it is woken, polls, and sees the
                // failure.
                end(source);
            }
            source.wake.run();
        }
    }
}
