package io.farheap.bench.resilience;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.VerbCounts;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Health;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * One copy in far memory and one on a local disk, as in Infiniswap (Hydra, FAST '22, sections 2.2 and 7). A write is
 * done when the far copy has it and the disk's buffer has accepted it: if the buffer is full, it waits for the disk.
 * Pages of a lost server are read from the buffer or the disk, and a write of such a page is done when the disk has it.
 */
final class BackupSide implements FarSide {

    private final PlainSide far;
    private final int pageBytes;
    private final BackupFile backup;

    BackupSide(RemoteMemory memory, int pageBytes, long bytes, BackupPlace place) {
        this.far = new PlainSide(memory, pageBytes, bytes);
        this.pageBytes = pageBytes;
        try {
            this.backup = new BackupFile(place, pageBytes, BackupFile.UNDER_WAY);
        } catch (Throwable e) {
            Closeables.after(e, far);
            throw e;
        }
    }

    @Override
    public FarMemoryClient open() {
        return new Client();
    }

    /** The disk's bytes do not count: they are not memory. */
    @Override
    public double memoryOverhead() {
        return far.memoryOverhead();
    }

    /** The buffer of the backup. */
    @Override
    public long localBytes() {
        return backup.bufferBytes();
    }

    @Override
    public @Nullable Health health() {
        return null;
    }

    @Override
    public void close() {
        Closeables.all(backup, far);
    }

    private final class Client implements FarMemoryClient {

        private static final long NOT_OFFERED = BackupFile.FULL;

        private final CloseStack opened = new CloseStack();
        private final FarMemoryClient farClient;
        private final MemorySegment fromDisk;
        private RequestKind access = new RequestKind(false, 0);
        private long address;
        private boolean farUnderWay;
        private boolean ended = true;
        /** The number of the request's write in the backup. */
        private long number;

        private @Nullable Future<?> reading;

        Client() {
            farClient = opened.add(far.open());
            fromDisk = backup.page(opened.add(Arena.ofShared()));
        }

        private RemoteRegion region() {
            return far.region(address);
        }

        private boolean lost() {
            return far.regions().lost(region());
        }

        @Override
        public MemorySegment memory() {
            return farClient.memory();
        }

        @Override
        public void begin(RequestKind what, long where) {
            access = what;
            address = where;
            ended = false;
            number = NOT_OFFERED;
            farUnderWay = !lost();
            if (farUnderWay) {
                farClient.begin(access, address);
            }
            if (access.write()) {
                offer();
            } else if (!farUnderWay) {
                readBackup();
            }
        }

        private void offer() {
            if (number == NOT_OFFERED) {
                number = backup.offer(address, memory(), access.bytes());
            }
        }

        private void readBackup() {
            if (backup.readBuffered(address, memory(), access.bytes())) {
                ended = true;
            } else {
                reading = backup.read(address / pageBytes, fromDisk);
            }
        }

        @Override
        public boolean ended() {
            if (!ended) {
                progress();
            }
            return ended;
        }

        private void progress() {
            if (access.write()) {
                offer();
            }
            if (farUnderWay && !farEnded()) {
                return;
            }
            if (access.write()) {
                ended = number != NOT_OFFERED && (!lost() || backup.has(number));
            } else if (reading != null) {
                takeRead(reading);
            }
        }

        /** Polls the far copy; if a read fails there, begins that of the backup. */
        private boolean farEnded() {
            if (!farClient.ended()) {
                return false;
            }
            farUnderWay = false;
            if (farClient.status() != CodedStatus.OK) {
                far.regions().lose(region());
                if (!access.write()) {
                    readBackup();
                }
            } else if (!access.write()) {
                ended = true;
            }
            return true;
        }

        private void takeRead(Future<?> read) {
            switch (read.state()) {
                case RUNNING -> {}
                case SUCCESS -> {
                    MemorySegment.copy(fromDisk, address % pageBytes, memory(), 0, access.bytes());
                    reading = null;
                    ended = true;
                }
                case FAILED, CANCELLED ->
                    throw new IllegalStateException("the backup cannot be read: " + read.exceptionNow());
            }
        }

        @Override
        public int status() {
            return CodedStatus.OK;
        }

        @Override
        public VerbCounts posted() {
            return farClient.posted();
        }

        @Override
        public void close() {
            // A read that is under way uses the memory.
            while (reading != null && !reading.isDone()) {
                Thread.onSpinWait();
            }
            opened.close();
        }
    }
}
