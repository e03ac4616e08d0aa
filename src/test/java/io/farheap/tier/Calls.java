package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.testing.TestDevice;
import io.farheap.tier.device.AppendCompletion;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.IoCompletion;
import io.farheap.tier.device.IoStatus;
import java.util.ArrayList;
import java.util.List;

/** The callbacks of a handle, in their order. */
final class Calls implements AppendCompletion, IoCompletion {

    record Call(String what, long token, int status) {}

    final List<Call> all = new ArrayList<>();

    @Override
    public void appended(long token, int status) {
        all.add(new Call("appended", token, status));
    }

    @Override
    public void released(long token) {
        all.add(new Call("released", token, IoStatus.OK));
    }

    @Override
    public void completed(long token, int status) {
        all.add(new Call("completed", token, status));
    }

    /** @return the status with which the request of this token ended, an append or any other */
    int status(long token) {
        return all.stream()
                .filter(call -> call.token == token && !call.what.equals("released"))
                .mapToInt(Call::status)
                .findFirst()
                .orElseThrow(() -> new AssertionError("request " + token + " was not called back: " + all));
    }

    void assertAllOk() {
        for (Call call : all) {
            assertEquals(IoStatus.OK, call.status, call::toString);
        }
    }

    /** Polls a handle until it has no pending request. */
    static void finish(DeviceHandle handle) {
        long deadline = System.nanoTime() + TestDevice.patience(60_000_000_000L);
        while (handle.pending() > 0) {
            if (handle.poll() == 0) {
                handle.awaitProgress();
            }
            if (System.nanoTime() > deadline) {
                throw new AssertionError(handle.pending() + " requests do not end");
            }
        }
    }

    /** Counts callbacks and allocates nothing. */
    static final class Counter implements AppendCompletion, IoCompletion {

        long ended;
        long failed;

        @Override
        public void appended(long token, int status) {
            completed(token, status);
        }

        @Override
        public void released(long token) {}

        @Override
        public void completed(long token, int status) {
            ended++;
            if (status != IoStatus.OK) {
                failed++;
            }
        }
    }
}
