package io.farheap.bench.resilience;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.contract.VerbCounts;
import io.farheap.resilience.CodedSession;
import io.farheap.resilience.CodedSpace;
import io.farheap.resilience.contract.CodedCompletion;
import io.farheap.resilience.contract.Health;
import io.farheap.resilience.contract.Resilience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** A coded space, or one of copies. */
final class CodedSide implements FarSide {

    private static final VerbCounts NONE = new VerbCounts(0, 0, 0, 0, 0, 0, 0);

    private final Resilience resilience;
    private final CodedSpace space;

    CodedSide(RemoteMemory memory, Resilience resilience, long bytes) {
        this.resilience = resilience;
        this.space = CodedSpace.create(memory, resilience, bytes, RemoteServer::domain);
    }

    @Override
    public FarMemoryClient open() {
        CodedSession session = space.openSession();
        return new Client(session, Arena.ofConfined(), resilience.pageBytes(), true);
    }

    @Override
    public List<FarMemoryClient> openLanes(int count, CloseStack opened) {
        Arena arena = opened.add(Arena.ofConfined());
        CodedSession session = opened.add(space.openSession());
        List<FarMemoryClient> lanes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            lanes.add(new Client(session, arena, resilience.pageBytes(), i == 0));
        }
        return lanes;
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

    private static final class Client implements FarMemoryClient {

        private final CodedSession session;
        private final Arena arena;
        private final MemorySegment memory;
        /** Whether this client reports the operations of all that share the session. */
        private final boolean counts;

        private RequestKind access = new RequestKind(false, 0);
        private long address;
        /** Whether the session had no room for the request yet. */
        private boolean waits;

        private boolean ended = true;
        private long endedAt;
        private int status;
        private final CodedCompletion completion = (token, outcome) -> {
            ended = true;
            endedAt = System.nanoTime();
            status = outcome;
        };

        Client(CodedSession session, Arena arena, int pageBytes, boolean counts) {
            this.session = session;
            this.arena = arena;
            this.counts = counts;
            this.memory = arena.allocate(pageBytes, Resilience.SPLIT_UNIT);
        }

        @Override
        public MemorySegment memory() {
            return memory;
        }

        @Override
        public void begin(RequestKind what, long at) {
            access = what;
            address = at;
            ended = false;
            issue();
        }

        private void issue() {
            waits = !(access.write()
                    ? session.write(address, memory, 0, access.bytes(), completion, 0)
                    : session.read(address, memory, 0, access.bytes(), completion, 0));
        }

        @Override
        public boolean ended() {
            if (!ended) {
                session.poll();
                if (waits) {
                    issue();
                }
            }
            return ended;
        }

        @Override
        public long endedAt() {
            return endedAt;
        }

        @Override
        public int status() {
            return status;
        }

        @Override
        public VerbCounts posted() {
            return counts ? session.posted() : NONE;
        }

        @Override
        public void close() {
            Closeables.all(session, arena);
        }
    }
}
