package io.farheap.bench.resilience;

import io.farheap.lifetime.Closing;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteServer;
import io.farheap.remote.VerbCounts;
import io.farheap.resilience.CodedCompletion;
import io.farheap.resilience.CodedSession;
import io.farheap.resilience.CodedSpace;
import io.farheap.resilience.Health;
import io.farheap.resilience.Resilience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A coded space, or one of copies. */
final class CodedSide implements FarSide {

    private final Resilience resilience;
    private final CodedSpace space;

    CodedSide(RemoteMemory memory, Resilience resilience, long bytes) {
        this.resilience = resilience;
        this.space = CodedSpace.create(memory, resilience, bytes, RemoteServer::domain);
    }

    @Override
    public FarClient open() {
        return new Client(space.openSession(), resilience.pageBytes());
    }

    @Override
    public double memoryOverhead() {
        return (double) space.health().slabs() * space.slabBytes() / space.capacity();
    }

    @Override
    public Health health() {
        return space.health();
    }

    @Override
    public void close() {
        space.close();
    }

    private static final class Client implements FarClient {

        private final CodedSession session;
        private final Arena arena = Arena.ofConfined();
        private final MemorySegment memory;
        private boolean ended;
        private int status;
        private final CodedCompletion completion = (token, outcome) -> {
            ended = true;
            status = outcome;
        };

        Client(CodedSession session, int pageBytes) {
            this.session = session;
            this.memory = arena.allocate(pageBytes, Resilience.SPLIT_UNIT);
        }

        @Override
        public MemorySegment memory() {
            return memory;
        }

        @Override
        public void begin(Access access, long address) {
            ended = false;
            boolean issued = access.write()
                    ? session.write(address, memory, 0, access.bytes(), completion, 0)
                    : session.read(address, memory, 0, access.bytes(), completion, 0);
            if (!issued) {
                throw new IllegalStateException("a session without a request under way refuses one");
            }
        }

        @Override
        public boolean ended() {
            if (!ended) {
                session.poll();
            }
            return ended;
        }

        @Override
        public int status() {
            return status;
        }

        @Override
        public VerbCounts posted() {
            return session.posted();
        }

        @Override
        public void close() {
            Closing.all(session, arena);
        }
    }
}
