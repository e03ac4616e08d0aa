package io.farheap.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A store's last two checkpoints, each in a file of its own, {@code checkpoint-N}. */
final class CheckpointFiles {

    private static final Pattern NAME = Pattern.compile("checkpoint-(\\d{1,18})");
    private static final int KEPT = 2;

    private final StableFiles files;

    CheckpointFiles(StableFiles files) {
        this.files = files;
    }

    /** It is durable when this returns, and older ones than the one before are gone. */
    void write(Checkpoint checkpoint) throws IOException {
        files.write(name(checkpoint.number()), checkpoint.encode());
        List<Long> numbers = numbers();
        for (int i = KEPT; i < numbers.size(); i++) {
            files.delete(name(numbers.get(i)));
        }
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
