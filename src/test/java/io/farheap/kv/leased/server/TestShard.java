package io.farheap.kv.leased.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.leased.format.LeasedBlock;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.LeasedPieces;
import io.farheap.kv.leased.format.ShardShape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A shard in memory of this process, by a clock that a test sets. */
final class TestShard {

    static final long TERM = 1_000_000_000L;
    static final long MOST_TERM = 10_000_000_000L;
    private static final long MILLI = 1_000_000;

    final KeyHash hash = new KeyHash(1, 2);
    final BlockChecksum checksum = new BlockChecksum(hash);
    final LeasedShard shard;
    final ShardAnswer answer = new ShardAnswer();
    final MemorySegment memory;
    /** Has the values that need pieces. */
    final MemorySegment area = Arena.ofAuto().allocate(4 << 20, 4096);
    /** Called when a value is there, and before the shard copies it. */
    Runnable whenWritten = () -> {};
    /** Called after each step in which some of a value was copied. */
    Runnable betweenSteps = () -> {};

    private final ShardPieces pieces = new ShardPieces();

    private final MemorySegment request = MemorySegment.ofArray(new byte[LeasedCalls.MOST_REQUEST_BYTES]);
    long nanos = 5_000_000_000_000L;

    TestShard(long bytes, long objects) {
        this(bytes, objects, TERM, MOST_TERM);
    }

    TestShard(long bytes, long objects, long term, long mostTerm) {
        LeasedDescriptor map =
                new LeasedDescriptor(1, 0, 1, 1, bytes, objects, term, mostTerm, LeasedDescriptor.MOST_QUEUES, hash);
        ShardShape shape = map.shape();
        assertEquals(1, shape.perRegion());
        memory = Arena.ofAuto().allocate(bytes, 4096);
        shard = new LeasedShard(0, memory, 0, shape, map, checksum, () -> nanos);
    }

    void passMillis(long millis) {
        nanos += millis * MILLI;
    }

    static byte[] key(int number) {
        return ByteBuffer.allocate(12).putInt(number).putLong(number).array();
    }

    int call(int operation, byte[] key, byte[] value, long argument, long lifeMillis) {
        LeasedCalls.request(request, 0, 0, key.length, value.length, argument, lifeMillis);
        request.asSlice(LeasedCalls.KEY, LeasedCalls.valueAt(key.length) - LeasedCalls.KEY)
                .fill((byte) 0);
        MemorySegment.copy(key, 0, request, JAVA_BYTE, LeasedCalls.KEY, key.length);
        long hashed = hash.of(request, LeasedCalls.KEY, key.length);
        if (LeasedPieces.needed(key.length, value.length)) {
            MemorySegment.copy(value, 0, area, JAVA_BYTE, 0, value.length);
            long sum = LeasedPieces.sumOfAll(area, 0, value.length, checksum);
            LeasedCalls.valueInArea(request, 0, key.length, 1, 0, sum);
            whenWritten.run();
            // The thread of a call that has stopped has forgotten its pieces.
            pieces.clear();
            do {
                int status = shard.stage(operation, request, 0, hashed, area.address(), pieces);
                if (status == KvStatus.NO_ROOM || status == LeasedCalls.TORN) {
                    answer.clear(status);
                    return status;
                }
                if (status != KvStatus.DONE) {
                    break;
                }
                byte[] saved = request.toArray(JAVA_BYTE);
                betweenSteps.run();
                MemorySegment.copy(saved, 0, request, JAVA_BYTE, 0, saved.length);
            } while (!pieces.isWhole());
            shard.call(operation, request, 0, hashed, pieces, answer);
        } else {
            MemorySegment.copy(value, 0, request, JAVA_BYTE, LeasedCalls.valueAt(key.length), value.length);
            shard.call(operation, request, 0, hashed, answer);
        }
        return answer.status;
    }

    int set(int key, byte[] value) {
        return call(LeasedCalls.SET, key(key), value, 0, 0);
    }

    int set(int key, byte[] value, long lifeMillis) {
        return call(LeasedCalls.SET, key(key), value, 0, lifeMillis);
    }

    byte @Nullable [] get(int key) {
        return call(LeasedCalls.GET, key(key), new byte[0], 0, 0) == KvStatus.DONE ? value() : null;
    }

    boolean delete(int key) {
        return call(LeasedCalls.DELETE, key(key), new byte[0], 0, 0) == KvStatus.DONE;
    }

    int renew(int key, long incarnation) {
        return call(LeasedCalls.RENEW, key(key), new byte[0], incarnation, 0);
    }

    /** Reports READs of one block, of which so many count at most. */
    void report(int unit, long incarnation, int reads, long most) {
        LeasedCalls.report(request, 0, 0, 0, 1);
        LeasedCalls.reported(request, 0, 0, unit, reads, incarnation);
        shard.report(request, 0, false, asked -> Math.min(asked, most));
    }

    /** The value of the last answer. */
    byte[] value() {
        if (answer.inPieces) {
            byte[] joined = new byte[answer.valueBytes];
            long first = LeasedPieces.firstIncarnation(memory, answer.valueAt);
            for (int i = 0; i < LeasedPieces.count(joined.length); i++) {
                long piece = (long) pieceUnit(i) * LeasedBlock.UNIT_BYTES;
                int bytes = LeasedPieces.bytesOf(joined.length, i);
                assertTrue(LeasedBlock.isLive(memory, piece, first + i, 0, bytes, checksum));
                MemorySegment.copy(
                        memory, JAVA_BYTE, piece + LeasedBlock.HEADER_BYTES, joined, LeasedPieces.startOf(i), bytes);
            }
            return joined;
        }
        return memory.asSlice(answer.valueAt, answer.valueBytes).toArray(JAVA_BYTE);
    }

    /** Where a piece of the last answer's value is. */
    int pieceUnit(int number) {
        return LeasedPieces.unit(memory, answer.valueAt, number);
    }

    /** The mark of a block. */
    long mark(int unit) {
        return LeasedBlock.markAt(memory, (long) unit * LeasedBlock.UNIT_BYTES);
    }

    /** A copy of a block. */
    byte[] copy(int unit, int bytes) {
        return memory.asSlice((long) unit * LeasedBlock.UNIT_BYTES, bytes).toArray(JAVA_BYTE);
    }

    /** How many blocks of the shard are live, whole and of a key. */
    int liveBlocks(byte[] key) {
        int live = 0;
        MemorySegment of = MemorySegment.ofArray(key);
        for (long at = 0; at + LeasedBlock.UNIT_BYTES <= memory.byteSize(); at += LeasedBlock.UNIT_BYTES) {
            long incarnation = LeasedBlock.incarnation(LeasedBlock.markAt(memory, at));
            int valueBytes = LeasedBlock.valueBytes(memory, at);
            if (LeasedBlock.keyBytes(memory, at) == key.length
                    && valueBytes >= 0
                    && valueBytes <= LeasedPieces.MOST_VALUE_BYTES
                    && at + LeasedBlock.bytes(key.length, valueBytes) <= memory.byteSize()
                    && LeasedBlock.isLive(memory, at, incarnation, key.length, valueBytes, checksum)
                    && LeasedBlock.hasKey(memory, at, of, 0, key.length)) {
                live++;
            }
        }
        return live;
    }
}
