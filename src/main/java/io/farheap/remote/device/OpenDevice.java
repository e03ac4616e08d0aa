package io.farheap.remote.device;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.RegisteredMemory;
import io.farheap.verbs.Access;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.PortOptions;
import io.farheap.verbs.ProtectionDomain;
import java.util.concurrent.atomic.AtomicInteger;

/** An open RDMA device, and the objects that everything made on it shares. Any thread may call. */
public final class OpenDevice implements AutoCloseable {

    /** Larger requests are split: some devices take no more in one message, and softverbs copies within the post. */
    private static final long MAX_MESSAGE_BYTES = 1 << 20;

    private final Context context;
    private final ContextLifetime lifetime;
    private final ProtectionDomain domain;
    private final RegisteredMemory scratch;
    private final CompletionEvents events;
    /** How many holders have still to close it. */
    private final AtomicInteger holders = new AtomicInteger(1);

    /**
     * @param port its device, and how connections leave it
     * @param name prefix of thread names
     * @throws io.farheap.verbs.VerbsException if there is no such device, it cannot be opened, or it has no address of
     *     the kind that the options name
     */
    public OpenDevice(PortOptions port, String name) {
        try (CloseStack stack = new CloseStack()) {
            context = Devices.open(port);
            lifetime = stack.add(new ContextLifetime(context));
            context.checkAddress();
            domain = stack.add(context.allocateProtectionDomain());
            scratch = stack.add(RegisteredMemory.allocate(domain, "farheap-scratch", Long.BYTES, Access.LOCAL_WRITE));
            events = new CompletionEvents(name);
            stack.keep();
        }
    }

    public Context context() {
        return context;
    }

    /** Closes the context once all objects that were reported to it are closed. */
    public ContextLifetime lifetime() {
        return lifetime;
    }

    public ProtectionDomain domain() {
        return domain;
    }

    /** The 8 bytes into which drains read. */
    public RegisteredMemory scratch() {
        return scratch;
    }

    /** Wakes the threads that sleep until a completion arrives. */
    public CompletionEvents events() {
        return events;
    }

    /** The most that one work request may carry. */
    public int maxMessageBytes() {
        return (int) Math.min(MAX_MESSAGE_BYTES, context.requireActivePort().maxMessageBytes());
    }

    /**
     * Keeps it open until one more {@link #close}: for a thread that makes or frees an object of it meanwhile.
     *
     * @return false if it is closed
     */
    public boolean hold() {
        return holders.getAndUpdate(n -> n == 0 ? 0 : n + 1) > 0;
    }

    /**
     * Closes it, once all other objects made of it are closed, or will be later. If it is {@linkplain #hold held}, the
     * last holder's close does so.
     */
    @Override
    public void close() {
        if (holders.decrementAndGet() == 0) {
            Closeables.all(events, scratch, domain, lifetime);
        }
    }
}
