package io.farheap.tier.file;

import io.farheap.tier.device.Device;
import io.farheap.tier.handle.BaseHandle;
import io.farheap.tier.handle.SlotQueue;

/** The polling thread reads and writes itself, one request after the other, in order. */
public record PollerEngine(int requests) implements FileEngine {

    @Override
    public String name() {
        return "poller";
    }

    @Override
    public FileHandle open(Device device, BaseHandle.Registry registry, FileLog log) {
        return new Handle(device, registry, log, requests);
    }

    @Override
    public void close() {}

    private static final class Handle extends FileHandle {

        private final SlotQueue submitted;

        Handle(Device device, Registry registry, FileLog log, int requests) {
            super(device, registry, log, requests);
            submitted = new SlotQueue(requests);
        }

        @Override
        boolean submit(int slot) {
            submitted.add(slot);
            return true;
        }

        @Override
        int reap() {
            int count = submitted.size();
            for (int i = 0; i < count; i++) {
                int slot = submitted.remove();
                perform(slot);
                end(slot);
            }
            return count;
        }

        /** Returns at once: a poll makes progress. */
        @Override
        void await() {}
    }
}
