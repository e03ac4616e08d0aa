package io.farheap.cli;

import io.farheap.command.DeviceNotice;
import io.farheap.command.ProcessText;
import io.farheap.kv.FarMap;
import io.farheap.kv.FarMapBuilder;
import io.farheap.kv.MapSession;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The options that say which map a command uses. */
final class KvOptions {

    private static final String TOKEN = "FARHEAP_TOKEN";

    @Parameters(index = "0", paramLabel = "MAP", description = "The map's name.")
    private String map;

    @Option(
            names = "--servers",
            required = true,
            split = ",",
            paramLabel = "HOST:PORT",
            description = "All memory servers that the map was created on, separated by commas.")
    private List<String> servers;

    @Option(
            names = "--token",
            paramLabel = "TOKEN",
            description = "The map's token: 8 to 64 bytes in UTF-8 (default: the environment variable " + TOKEN
                    + ", which other users of this machine cannot read).")
    private @Nullable String token;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    FarMapBuilder builder() {
        DeviceNotice.print(command.commandLine().getErr());
        return FarMap.builder()
                .name(map)
                .token(token())
                .servers(servers.toArray(String[]::new))
                // A command gets few objects.
                .pointers(0);
    }

    /**
     * Read here and not by the parser, which would expand a dollar sign in it as the beginning of a variable's name.
     */
    private String token() {
        String given = token != null ? token : ProcessText.variable(TOKEN);
        if (given == null) {
            throw new ParameterException(
                    command.commandLine(),
                    "the map's token is missing: set --token, or the environment variable " + TOKEN);
        }
        return given;
    }

    /** One request, or a few, in a session. */
    interface SessionAction {
        int run(MapSession session);
    }

    /** Opens the map and a session, and closes both. */
    int in(SessionAction requests) {
        try (FarMap opened = builder().open();
                MapSession session = opened.openSession()) {
            return requests.run(session);
        }
    }
}
