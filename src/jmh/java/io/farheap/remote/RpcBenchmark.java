package io.farheap.remote;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.remote.contract.CompletionHandler;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.contract.ReplyHandler;
import io.farheap.rpc.Arguments;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.Reply;
import io.farheap.rpc.RpcHandler;
import io.farheap.server.MemoryServer;
import io.farheap.server.contract.ServerOptions;
import io.farheap.thread.idle.Idle;
import io.farheap.verbs.VerbsLibrary;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Calls of an operation on a server thread of this process, ns per call; and a chain of 16 pointers that one call
 * follows, beside 16 READs that wait for one another. The server thread spins, so it wants a core of its own.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class RpcBenchmark {

    private static final int MANY = 256;
    private static final int STEPS = 16;
    private static final int FOLLOW = 1;
    private static final int ECHO = 2;
    private static final long BYTES = 1 << 26;

    private static final class Follow implements RpcHandler {

        @Override
        public long touch(HeldRegions held, Arguments arguments) {
            return held.place((int) arguments.getLong(0), arguments.getLong(8));
        }

        @Override
        public int execute(HeldRegions held, Arguments arguments, Reply reply) {
            MemorySegment region = held.region((int) arguments.getLong(0));
            long at = arguments.getLong(8);
            for (int step = 0; step < STEPS; step++) {
                at = region.get(JAVA_LONG, at);
            }
            reply.setLong(0, at);
            return Long.BYTES;
        }
    }

    private MemoryServer server;
    private RemoteMemory memory;
    private RemoteServer attached;
    private RemoteRegion region;
    private RegisteredBuffer page;
    private RemoteQueue queue;
    private RpcQueue calls;
    private int ended;
    private long place;

    private final CompletionHandler handler = (tag, outcome) -> count(outcome);
    private final ReplyHandler replies = (tag, outcome, bytes) -> count(outcome);

    private void count(int outcome) {
        if (outcome != Outcome.DONE) {
            throw new IllegalStateException(Outcome.describe(outcome));
        }
        ended++;
    }

    @Setup
    public void open() {
        VerbsLibrary.choose(VerbsLibrary.AUTO);
        server = MemoryServer.open(new ServerOptions(BYTES, BYTES, 10_000_000_000L, "", "jmh", 1, true, Idle.SPIN));
        server.register(FOLLOW, new Follow());
        server.register(ECHO, (held, arguments, reply) -> {
            reply.setLong(0, arguments.getLong(0));
            return Long.BYTES;
        });
        memory = RemoteMemory.open("", "jmh");
        attached = memory.attach(server.serve("127.0.0.1:0"));
        region = memory.allocate(attached, 1).getFirst();
        page = memory.register(1 << 20);
        queue = memory.openQueue(QueueOptions.DEFAULT);
        calls = memory.openRpcQueue(RpcOptions.DEFAULT);
        fill();
    }

    /** One cycle through all lines of the region, in no order. */
    private void fill() {
        SplittableRandom random = new SplittableRandom(1);
        int lines = (int) (BYTES / 64);
        int[] order = new int[lines];
        for (int i = 0; i < lines; i++) {
            int other = random.nextInt(i + 1);
            order[i] = order[other];
            order[other] = i;
        }
        for (int i = 0; i < lines; i++) {
            page.segment().set(JAVA_LONG, 0, 64L * order[(i + 1) % lines]);
            posted(queue.write(region, 64L * order[i], page, 0, 8, 0));
            awaitQueue(1);
        }
    }

    @TearDown
    public void close() {
        memory.close();
        server.close();
    }

    @Benchmark
    public void callOne() {
        posted(calls.call(attached, ECHO, page, 0, 8, 64, 8, 0));
        awaitCalls(1);
    }

    @Benchmark
    @OperationsPerInvocation(MANY)
    public void callMany() {
        many(ECHO);
    }

    /** Each call is a chain of its own. */
    @Benchmark
    @OperationsPerInvocation(MANY)
    public void followManyByCalls() {
        many(FOLLOW);
    }

    private void many(int operation) {
        ended = 0;
        MemorySegment words = page.segment();
        words.set(JAVA_LONG, 0, region.regionId());
        for (int i = 0; i < MANY; i++) {
            place = place + 1_000_003 * 64 & BYTES - 64;
            words.set(JAVA_LONG, 8, place);
            while (calls.call(attached, operation, page, 0, 16, 64 + i * 8L, 8, i) != PostResult.OK) {
                calls.poll(replies);
            }
        }
        while (ended < MANY) {
            calls.poll(replies);
        }
    }

    @Benchmark
    public void followByCall() {
        place = place + 1_000_003 * 64 & BYTES - 64;
        page.segment().set(JAVA_LONG, 0, region.regionId());
        page.segment().set(JAVA_LONG, 8, place);
        posted(calls.call(attached, FOLLOW, page, 0, 16, 64, 8, 0));
        awaitCalls(1);
    }

    @Benchmark
    public void followByReads() {
        place = place + 1_000_003 * 64 & BYTES - 64;
        long at = place;
        for (int step = 0; step < STEPS; step++) {
            if (queue.execute(false, region, at, page, 0, 8, 0) == PostResult.OK) {
                awaitQueue(1);
            }
            at = page.segment().get(JAVA_LONG, 0);
        }
    }

    private static void posted(int posting) {
        if (posting != PostResult.OK) {
            throw new IllegalStateException(PostResult.describe(posting));
        }
    }

    private void awaitCalls(int count) {
        ended = 0;
        while (ended < count) {
            calls.poll(replies);
        }
    }

    private void awaitQueue(int count) {
        ended = 0;
        while (ended < count) {
            queue.poll(handler);
        }
    }
}
