package io.farheap.bench.figures;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The versions of the peers: programs of this machine, and the client libraries that the build fetches. */
final class PeerVersions {

    private static final Map<String, List<String>> PROGRAMS = programs();
    /** Runs a program whose status does not matter: perftest prints its version and ends with 1. */
    private static final List<String> WITHOUT_STATUS = List.of("/bin/sh", "-c", "\"$@\" || true", "sh");

    private static final Pattern NUMBER = Pattern.compile("\\d\\.\\d");

    /** The libraries' versions in the POM of the modules. */
    private static final Path POM = Path.of("modules/pom.xml");

    private static final Pattern LIBRARY =
            Pattern.compile("<(lettuce|xmemcached|rocksdb|lmdb|mapdb|jucx|lz4|caffeine|agrona)\\.version>([^<]+)</");

    private PeerVersions() {}

    private static Map<String, List<String>> programs() {
        Map<String, List<String>> programs = new LinkedHashMap<>();
        programs.put("redis-server", List.of("redis-server", "--version"));
        programs.put("memcached", List.of("memcached", "--version"));
        programs.put("fio", List.of("fio", "--version"));
        programs.put("ucx", List.of("ucx_info", "-v"));
        programs.put("perftest", List.of("ib_read_lat", "--version"));
        programs.put("memcslap", List.of("memcslap", "--version"));
        return programs;
    }

    /** @param root of the checkout */
    static JsonObject read(Path root) throws IOException, InterruptedException {
        JsonObject versions = new JsonObject();
        for (Map.Entry<String, List<String>> program : PROGRAMS.entrySet()) {
            String version = version(root, program.getValue());
            if (version != null) {
                versions.addProperty(program.getKey(), version);
            }
        }
        Path pom = root.resolve(POM);
        if (Files.exists(pom)) {
            Matcher library = LIBRARY.matcher(Files.readString(pom));
            while (library.find()) {
                versions.addProperty(library.group(1), library.group(2));
            }
        }
        return versions;
    }

    /**
     * Returns the first line with a version that a program prints, whatever its status is.
     *
     * @param directory in which it runs
     * @return null if the program is not installed, or prints no version
     */
    static @Nullable String version(Path directory, List<String> program) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(WITHOUT_STATUS);
        command.addAll(program);
        String printed = ShortCommand.output(directory, command);
        return printed == null
                ? null
                : printed.lines()
                        .map(String::strip)
                        .filter(line -> NUMBER.matcher(line).find())
                        .findFirst()
                        .orElse(null);
    }
}
