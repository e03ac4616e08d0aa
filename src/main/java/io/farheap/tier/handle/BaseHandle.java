package io.farheap.tier.handle;

import io.farheap.thread.OwnerThread;
import io.farheap.tier.device.AppendCompletion;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoCompletion;
import org.jspecify.annotations.Nullable;

/** The common part of all handles: it checks the owner and the arguments of requests, and calls completions. */
public abstract class BaseHandle implements DeviceHandle {

    /** The device's list of its open handles and registered memory. */
    public interface Registry extends OwnedMemory.Registry {

        /** Removes a handle, which is closed. */
        void forget(BaseHandle handle);
    }

    public final RequestSlots slots;
    private final Registry registry;
    // Copies of the device's values, which save a load.
    private final long segmentBytes;
    private final long segmentMask;
    private final int unaligned;
    private final int unalignedRead;

    private final OwnerThread owner = new OwnerThread("handle");
    private boolean inCallback;
    private boolean closing;
    private boolean closed;

    /**
     * @param device whose handle this is; its values limit requests
     * @param registry the device's, with which its memory is registered, too
     * @param requests how many requests the handle may have at a time
     */
    public BaseHandle(Device device, Registry registry, int requests) {
        if (requests < 1) {
            throw new IllegalArgumentException(requests + " requests at a time; a handle needs at least 1");
        }
        this.registry = registry;
        this.slots = new RequestSlots(requests);
        this.segmentBytes = device.segmentBytes();
        this.segmentMask = segmentBytes - 1;
        this.unaligned = device.alignment() - 1;
        this.unalignedRead = device.readAlignment() - 1;
    }

    @Override
    public final boolean append(
            long address, DeviceMemory source, long offset, long length, AppendCompletion completion, long token) {
        enter();
        OwnedMemory memory = check(address, source, offset, length, unaligned);
        checkCompletion(completion);
        return !slots.full() && append(address, memory, offset, length, completion, token);
    }

    /** There is a place. */
    protected abstract boolean append(
            long address, OwnedMemory source, long offset, long length, AppendCompletion completion, long token);

    @Override
    public final boolean read(
            long address, DeviceMemory destination, long offset, long length, IoCompletion completion, long token) {
        enter();
        OwnedMemory memory =
                check(address, destination, offset, length, length <= Device.MAX_FINE_READ ? unalignedRead : unaligned);
        checkCompletion(completion);
        return !slots.full() && read(address, memory, offset, length, completion, token);
    }

    /** There is a place. */
    protected abstract boolean read(
            long address, OwnedMemory destination, long offset, long length, IoCompletion completion, long token);

    @Override
    public final boolean sync(IoCompletion completion, long token) {
        enter();
        checkCompletion(completion);
        return !slots.full() && startSync(completion, token);
    }

    /** There is a place. */
    protected abstract boolean startSync(IoCompletion completion, long token);

    @Override
    public final int poll() {
        enterOutsideCallback();
        return progress();
    }

    /** @return how many requests were called back */
    protected abstract int progress();

    @Override
    public final void awaitProgress() {
        enterOutsideCallback();
        if (slots.used() > 0) {
            sleep();
        }
    }

    /** Something is pending. */
    protected abstract void sleep();

    @Override
    public final int pending() {
        return slots.used();
    }

    @Override
    public final void own() {
        enterOutsideCallback();
    }

    @Override
    public final void release() {
        enterOutsideCallback();
        released();
        owner.disown();
    }

    /** Called when the owner releases the handle. */
    protected void released() {}

    @Override
    public final void close() {
        if (closed) {
            return;
        }
        enterOutsideCallback();
        closing = true;
        beginEnd();
        Throwable first = null;
        while (slots.used() > 0) {
            try {
                if (progress() == 0) {
                    sleep();
                }
            } catch (Throwable e) {
                // Pending requests use memory that is freed next, so continue.
                first = first == null ? e : suppress(first, e);
            }
        }
        closed = true;
        try {
            end();
        } finally {
            registry.forget(this);
        }
        if (first instanceof Error error) {
            throw error;
        }
        if (first != null) {
            throw (RuntimeException) first;
        }
    }

    private static Throwable suppress(Throwable first, Throwable next) {
        if (first != next) {
            first.addSuppressed(next);
        }
        return first;
    }

    /** Called as the handle begins to close, to make pending requests end. */
    protected void beginEnd() {}

    /** Called once, when nothing is pending any more. */
    protected void end() {}

    /** As {@link RequestSlots#uses}. Any thread. */
    final boolean uses(OwnedMemory memory) {
        return slots.uses(memory);
    }

    /** Calls the completion of a request that has ended, and frees its slot. */
    public final void finish(int slot) {
        long token = slots.token[slot];
        int status = slots.status[slot];
        IoCompletion completion = slots.completions[slot];
        if (completion == null) {
            finishAppend(slot);
            return;
        }
        slots.give(slot);
        inCallback = true;
        try {
            completion.completed(token, status);
        } finally {
            inCallback = false;
        }
    }

    private void finishAppend(int slot) {
        long token = slots.token[slot];
        AppendCompletion completion = slots.appends[slot];
        assert completion != null;
        try {
            appended(completion, token, slots.status[slot]);
        } finally {
            slots.give(slot);
            released(completion, token);
        }
    }

    public final void appended(AppendCompletion completion, long token, int status) {
        inCallback = true;
        try {
            completion.appended(token, status);
        } finally {
            inCallback = false;
        }
    }

    public final void released(AppendCompletion completion, long token) {
        inCallback = true;
        try {
            completion.released(token);
        } finally {
            inCallback = false;
        }
    }

    private void enter() {
        owner.own();
        if (closing) {
            throw new IllegalStateException(closed ? "the handle is closed" : "the handle is closing");
        }
    }

    private void enterOutsideCallback() {
        enter();
        if (inCallback) {
            throw new IllegalStateException(
                    "a callback may make requests, but not poll, wait for, release or close its handle");
        }
    }

    private OwnedMemory check(long address, DeviceMemory memory, long offset, long length, int unaligned) {
        if (!(memory instanceof OwnedMemory owned) || owned.registry() != registry) {
            throw new IllegalArgumentException("the memory belongs to another device; register it with this one");
        }
        if ((address | length - 1 | Device.MAX_ADDRESS - address - length) < 0) {
            throw new IndexOutOfBoundsException(length + " bytes at address " + address + "; a request has at least 1,"
                    + " and addresses go from 0 to " + Device.MAX_ADDRESS);
        }
        if (((address | offset | length) & unaligned) != 0) {
            throw new IllegalArgumentException(length + " bytes at address " + address + " and offset " + offset
                    + "; all three must be multiples of the device's alignment, " + (unaligned + 1));
        }
        if ((address & segmentMask) + length > segmentBytes) {
            throw new IllegalArgumentException(length + " bytes at address " + address
                    + " go beyond the end of a segment of " + segmentBytes + "; cut the request there");
        }
        if (offset < 0 || length > owned.bytes() - offset) {
            throw new IndexOutOfBoundsException(
                    length + " bytes at offset " + offset + " of memory that has " + owned.bytes());
        }
        return owned;
    }

    private static void checkCompletion(@Nullable Object completion) {
        if (completion == null) {
            throw new NullPointerException("a request needs a completion");
        }
    }
}
