package io.farheap.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A store's last two checkpoints, each in a file of its own, {@code checkpoint-N}, and the files that they need beside
 * the log.
 */
final class CheckpointFiles {

    private static final Pattern NAME = Pattern.compile("checkpoint-(\\d{1,18})");
    private static final Pattern BESIDE = Pattern.compile("(snapshot|index)-\\d{1,18}");
    private static final int KEPT = 2;

    private final StableFiles files;
    /** What a checkpoint needs, by number. */
    private final Map<Long, Set<String>> needs = new HashMap<>();

    CheckpointFiles(StableFiles files) {
        this.files = files;
    }

    /** It is durable when this returns, and older ones than the one before are gone. */
    void write(Checkpoint checkpoint) throws IOException {
        files.write(name(checkpoint.number()), checkpoint.encode());
        needs.put(checkpoint.number(), needs(checkpoint));
        List<Long> numbers = numbers();
        for (int i = KEPT; i < numbers.size(); i++) {
            files.delete(name(numbers.get(i)));
            needs.remove(numbers.get(i));
        }
        Set<String> needed = new HashSet<>();
        for (int i = 0; i < Math.min(KEPT, numbers.size()); i++) {
            needed.addAll(needs(numbers.get(i)));
        }
        for (String name : files.names()) {
            if (BESIDE.matcher(name).matches() && !needed.contains(name)) {
                files.delete(name);
            }
        }
    }

    private static Set<String> needs(Checkpoint checkpoint) {
        Set<String> names = new HashSet<>();
        checkpoint.pieces().forEach(piece -> names.add(SnapshotFiles.name(piece.file())));
        if (checkpoint.index().there()) {
            names.add(IndexFiles.name(checkpoint.number()));
        }
        return names;
    }

    private Set<String> needs(long number) throws IOException {
        Set<String> known = needs.get(number);
        if (known == null) {
            try {
                known = needs(read(number));
            } catch (DamagedException e) {
                // Nobody can recover it.
                known = Set.of();
            }
            needs.put(number, known);
        }
        return known;
    }

    StableFiles files() {
        return files;
    }

    private static String name(long number) {
        return "checkpoint-" + number;
    }

    /** The newest first. */
    List<Long> numbers() throws IOException {
        List<Long> numbers = new ArrayList<>();
        for (String name : files.names()) {
            Matcher matcher = NAME.matcher(name);
            if (matcher.matches()) {
                numbers.add(Long.parseLong(matcher.group(1)));
            }
        }
        numbers.sort((a, b) -> Long.compare(b, a));
        return numbers;
    }

    Checkpoint read(long number) throws IOException, DamagedException {
        ByteBuffer bytes = files.read(name(number));
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        Checkpoint checkpoint = Checkpoint.decode(copy);
        if (checkpoint.number() != number) {
            throw new DamagedException("it is number " + checkpoint.number());
        }
        return checkpoint;
    }
}
