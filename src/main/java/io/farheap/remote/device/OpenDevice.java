package io.farheap.remote.device;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.RegisteredMemory;
import io.farheap.verbs.Access;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.ProtectionDomain;
import java.util.concurrent.atomic.AtomicInteger;

/** An RDMA device that is open, and what all that its user makes on it has in common. Any thread. */
public final class OpenDevice implements AutoCloseable {

    /** Larger requests are cut: some devices take no more in one message, and softverbs copies within the post. */
    private static final long MAX_MESSAGE_BYTES = 1 << 20;

    private final Context context;
    private final ContextLifetime lifetime;
    private final ProtectionDomain domain;
    private final RegisteredMemory scratch;
    private final CompletionEvents events;
    /** How many are still to close it. */
    private final AtomicInteger holders = new AtomicInteger(1);

    /**
     * @param device of the machine; empty for the first that serves
     * @param name for names of threads
     * @throws io.farheap.verbs.VerbsException where there is no such device or it cannot be opened
     */
    public OpenDevice(String device, String name) {
        try (CloseStack stack = new CloseStack()) {
            context = Devices.open(device);
            lifetime = stack.add(new ContextLifetime(context));
            domain = stack.add(context.allocateProtectionDomain());
            scratch = stack.add(RegisteredMemory.allocate(domain, "farheap-scratch", Long.BYTES, Access.LOCAL_WRITE));
            events = new CompletionEvents(name);
            stack.keep();
        }
    }

    public Context context() {
        return context;
    }

    /** The context is closed when all that was told here is. */
    public ContextLifetime lifetime() {
        return lifetime;
    }

    public ProtectionDomain domain() {
        return domain;
    }

    /** Where drains put what they read. */
    public RegisteredMemory scratch() {
        return scratch;
    }

    /** Wakes whoever sleeps for completions. */
    public CompletionEvents events() {
        return events;
    }

    /** The most that one work request may carry. */
    public int maxMessageBytes() {
        return (int) Math.min(MAX_MESSAGE_BYTES, context.requireActivePort().maxMessageBytes());
    }

    /**
     * Keeps it open until one {@link #close} more: for who makes or frees something of it meanwhile.
     *
     * @return false where it is closed
     */
    public boolean hold() {
        return holders.getAndUpdate(n -> n == 0 ? 0 : n + 1) > 0;
    }

    /**
     * Once everything else that was made of it is closed, or will be later. Where it is {@linkplain #hold held}, the
     * last one closes it.
     */
    @Override
    public void close() {
        if (holders.decrementAndGet() == 0) {
            Closeables.all(events, scratch, domain, lifetime);
        }
    }
}
