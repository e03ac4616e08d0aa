package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A session's requests with byte arrays, one at a time, which wait. The session's thread. */
final class Waiting {

    private static final int SPINS = 2000;
    private static final long SLEEP_NANOS = 1_000_000;

    private final Session session;
    private final KvHandler handler = this::take;
    private boolean ended;
    private int status;
    private byte @Nullable [] value;
    private long version;

    Waiting(Session session) {
        this.session = session;
    }

    byte @Nullable [] get(byte[] key) {
        session.checkIdle();
        session.get(MemorySegment.ofArray(key), 0);
        run();
        return value;
    }

    @Nullable
    Versioned getVersioned(byte[] key) {
        byte[] found = get(key);
        return found == null ? null : new Versioned(found, version);
    }

    int store(int kind, byte[] key, byte[] object, long expected, long lifeMillis) {
        session.checkIdle();
        session.store(kind, MemorySegment.ofArray(key), MemorySegment.ofArray(object), lifeMillis, expected, 0);
        return run();
    }

    OptionalLong increment(byte[] key, long delta) {
        session.checkIdle();
        session.increment(MemorySegment.ofArray(key), delta, 0);
        run();
        byte[] sum = value;
        return sum == null
                ? OptionalLong.empty()
                : OptionalLong.of(MemorySegment.ofArray(sum).get(JAVA_LONG_UNALIGNED, 0));
    }

    boolean touch(byte[] key, long lifeMillis) {
        session.checkIdle();
        session.touch(MemorySegment.ofArray(key), lifeMillis, 0);
        return run() == KvStatus.DONE;
    }

    boolean delete(byte[] key) {
        session.checkIdle();
        session.delete(MemorySegment.ofArray(key), 0);
        return run() == KvStatus.DONE;
    }

    List<byte @Nullable []> getAll(List<byte[]> keys) {
        session.checkIdle();
        if (keys.isEmpty()) {
            return List.of();
        }
        Batch batch = new Batch();
        keys.forEach(key -> batch.add(MemorySegment.ofArray(key)));
        session.getAll(batch, 0);
        run();
        List<byte @Nullable []> found = new ArrayList<>(keys.size());
        for (int i = 0; i < batch.size(); i++) {
            found.add(batch.status(i) == KvStatus.DONE ? batch.value(i) : null);
        }
        return found;
    }

    void setAll(List<byte[]> keys, List<byte[]> values, long lifeMillis) {
        session.checkIdle();
        if (keys.size() != values.size()) {
            throw new IllegalArgumentException(
                    keys.size() + " keys with " + values.size() + " values; say one value for each key");
        }
        if (keys.isEmpty()) {
            return;
        }
        Batch batch = new Batch();
        for (int i = 0; i < keys.size(); i++) {
            batch.add(MemorySegment.ofArray(keys.get(i)), MemorySegment.ofArray(values.get(i)));
        }
        session.setAll(batch, lifeMillis, 0);
        run();
    }

    private int run() {
        ended = false;
        for (int spins = 0; !poll(); spins++) {
            if (spins > SPINS) {
                session.await(SLEEP_NANOS);
            } else {
                Thread.onSpinWait();
            }
        }
        if (MapException.isOf(status)) {
            throw MapException.of(status);
        }
        return status;
    }

    private boolean poll() {
        session.poll(handler);
        return ended;
    }

    private void take(long tag, int with, MemorySegment found, long at, int bytes) {
        ended = true;
        status = with;
        version = session.version();
        value = null;
        if (with == KvStatus.DONE) {
            byte[] copy = new byte[bytes];
            MemorySegment.copy(found, at, MemorySegment.ofArray(copy), 0, bytes);
            value = copy;
        }
    }
}
