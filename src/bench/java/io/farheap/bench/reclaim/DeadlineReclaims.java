package io.farheap.bench.reclaim;

import io.farheap.bench.move.LostContent;
import io.farheap.bench.move.MigrationLoad;
import io.farheap.bench.move.MoveCase;
import io.farheap.bench.move.MoveOptions;
import io.farheap.bench.move.RecordContent;
import io.farheap.command.ManagerProcess;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.verbs.Context;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Servers that leave under writes, and are killed at the end of their notice as a spot machine is; another server has
 * room for each one's regions. Every byte of the cache is checked after each reclaim. A cache that has lost data is
 * created again.
 */
final class DeadlineReclaims {

    private static final long SETTLE_NANOS = 20_000_000;

    private final ManagerProcess manager;
    private final ManagerClient asked;
    private final MoveOptions options;
    private final MoveCase how;
    private final Duration notice;
    private final RecordContent content;
    private @Nullable Context device;

    DeadlineReclaims(
            ManagerProcess manager,
            ManagerClient asked,
            MoveOptions options,
            MoveCase how,
            Duration notice,
            RecordContent content) {
        this.manager = manager;
        this.asked = asked;
        this.options = options;
        this.how = how;
        this.notice = notice;
        this.content = content;
    }

    ReclaimFigures run(int count) {
        ReclaimFigures figures = new ReclaimFigures();
        while (figures.reclaims() < count) {
            try (ReclaimRig rig = new ReclaimRig(manager, asked, options, how, notice)) {
                device = rig.cache().context();
                content.fill(rig.cache());
                untilLoss(rig, figures, count);
            }
        }
        return figures;
    }

    private void untilLoss(ReclaimRig rig, ReclaimFigures figures, int count) {
        MigrationLoad load = new MigrationLoad(rig.cache(), true, figures.reclaims(), content);
        boolean whole = true;
        boolean lossy = false;
        try {
            while (whole && figures.reclaims() < count) {
                load.pause();
                rig.startSpare();
                load.resume();
                LockSupport.parkNanos(SETTLE_NANOS);
                ReclaimTimes times = rig.reclaim(() -> {});
                load.pause();
                LostContent lost = content.lost(rig.cache());
                figures.addReclaim(times);
                figures.addLost(lost);
                lossy = lost.bytes() > 0 || times.stayed() > 0;
                whole = !lossy && load.running();
                if (whole) {
                    rig.awaitTold();
                }
            }
        } finally {
            long failures = load.end();
            // Requests to regions that are gone fail, which the lost bytes tell.
            figures.addFailed(lossy ? 0 : failures);
        }
    }

    /** Returns the device of the last cache, which is closed, for a report. */
    Context device() {
        return Objects.requireNonNull(device);
    }
}
