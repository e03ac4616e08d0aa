package io.farheap.bench.figures;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The versions of the peers: programs of this machine, and the client libraries that the build fetches. */
final class PeerVersions {

    private static final Map<String, List<String>> PROGRAMS = programs();

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
            String printed = ShortCommand.output(root, program.getValue());
            if (printed != null && !printed.isEmpty()) {
                versions.addProperty(
                        program.getKey(), printed.lines().findFirst().orElse(printed));
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
}
