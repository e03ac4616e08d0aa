package io.farheap.bench.move;

import io.farheap.command.Sizes;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.PauseScope;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that say which regions move, and how, of the commands that measure it. */
public final class MoveOptions {

    @Option(
            names = "--regions",
            paramLabel = "N",
            defaultValue = "7",
            description = "regions of the cache (default: ${DEFAULT-VALUE})")
    private int regions;

    @Option(
            names = "--region",
            paramLabel = "SIZE",
            converter = Sizes.class,
            defaultValue = "64m",
            description = "region size (default: ${DEFAULT-VALUE})")
    private long regionBytes;

    @Option(
            names = "--move",
            split = ",",
            paramLabel = "N",
            defaultValue = "1,2,4",
            description = "how many regions move (default: ${DEFAULT-VALUE})")
    private List<Integer> moves;

    @Option(
            names = "--pause",
            split = ",",
            paramLabel = "P",
            defaultValue = "cache,region,chunk",
            description = "unit whose move writes wait for: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})")
    private List<PauseScope> pauses;

    @Option(
            names = "--unpaused-reads",
            arity = "1",
            split = ",",
            paramLabel = "BOOL",
            defaultValue = "true,false",
            description = "whether reads continue from the old copy (default: ${DEFAULT-VALUE})")
    private List<Boolean> unpausedReads;

    @Option(
            names = "--chunk",
            paramLabel = "SIZE",
            converter = Sizes.class,
            description = "chunk size (default: the library's)")
    private @Nullable Long chunkBytes;

    @Option(
            names = "--window",
            paramLabel = "SIZE",
            converter = Sizes.class,
            description = "how far ahead of the copy writes are held (default: the library's)")
    private @Nullable Long windowBytes;

    public int regions() {
        return regions;
    }

    public long regionBytes() {
        return regionBytes;
    }

    /** Returns the bytes of the cache. */
    public long bytes() {
        return regions * regionBytes;
    }

    List<Integer> moves() {
        return moves;
    }

    /** @throws IllegalArgumentException if the options are invalid */
    public void check() {
        how();
        if (regions < 1) {
            throw new IllegalArgumentException("--regions " + regions + ": it must be at least 1");
        }
        for (int move : moves) {
            if (move < 1 || move > regions) {
                throw new IllegalArgumentException(
                        "--move " + move + ": it must be from 1 to " + regions + ", the cache's regions");
            }
        }
    }

    private MigrationOptions how() {
        MigrationOptions options = MigrationOptions.DEFAULT;
        if (chunkBytes != null) {
            options = options.chunkBytes(Math.toIntExact(chunkBytes));
        }
        return windowBytes == null ? options : options.windowBytes(windowBytes);
    }

    /** Returns the library's default way, with the last number of regions of {@code --move}. */
    public MoveCase usual() {
        return new MoveCase(moves.getLast(), how());
    }

    /** Returns the case in which no region moves, and all combinations. */
    public List<MoveCase> cases() {
        List<MoveCase> cases = new ArrayList<>();
        cases.add(new MoveCase(0, how()));
        cases.addAll(moving());
        return cases;
    }

    /** Returns all combinations. */
    List<MoveCase> moving() {
        List<MoveCase> cases = new ArrayList<>();
        for (PauseScope pause : pauses) {
            for (boolean unpaused : unpausedReads) {
                for (int move : moves) {
                    cases.add(new MoveCase(move, how().pause(pause).unpausedReads(unpaused)));
                }
            }
        }
        return cases;
    }
}
