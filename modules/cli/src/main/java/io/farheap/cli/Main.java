package io.farheap.cli;

import io.farheap.bench.child.BenchRunException;
import io.farheap.cache.contract.CacheException;
import io.farheap.command.LogLevel;
import io.farheap.command.ProcessText;
import io.farheap.command.StandardOutput;
import io.farheap.command.Subcommand;
import io.farheap.control.ControlException;
import io.farheap.kv.contract.MapException;
import io.farheap.manager.state.StateException;
import io.farheap.posix.FileNames;
import io.farheap.posix.PosixException;
import io.farheap.procedure.translate.instruction.RefusedProcedureException;
import io.farheap.slo.InfeasibleSloException;
import io.farheap.slo.ModelFileException;
import io.farheap.verbs.VerbsException;
import io.farheap.verbs.VerbsLibrary;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The {@code farheap} command, with each {@link Subcommand} on the class path. Exit codes: 0 done, 1 failed, 2 wrong
 * usage.
 */
@Command(
        name = "farheap",
        description = "Far memory for JVM services: memory of other machines, one RDMA operation away.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        synopsisSubcommandLabel = "COMMAND",
        footer = {
            "",
            "From a checkout, './farheap build' builds and './farheap test' runs every test.",
            "./farheap -Dfarheap.verbs=system|soft|auto COMMAND chooses the verbs library; auto, the default here, takes a real device that "
                    + "this process can use, and the embedded software device if there is none.",
            "-Dfarheap.log=warning writes less of the log to standard error; info is the default.",
        })
public final class Main {

    private static final String LOG_FORMAT = "java.util.logging.SimpleFormatter.format";

    private Main() {}

    public static void main(String[] arguments) {
        if (System.getProperty(LOG_FORMAT) == null) {
            System.setProperty(LOG_FORMAT, "%1$tF %1$tT %4$s %5$s%6$s%n");
        }
        // The output is the same on every machine: scripts read it.
        Locale.setDefault(Locale.ROOT);
        StandardOutput output = StandardOutput.install();
        VerbsLibrary.choose(VerbsLibrary.AUTO);
        System.exit(execute(arguments, output));
    }

    private static int execute(String[] arguments, StandardOutput output) {
        CommandLine line =
                commandLine().setOut(output.writer()).setErr(new PrintWriter(System.err, true, StandardCharsets.UTF_8));
        String[] text;
        try {
            LogLevel.apply();
            text = ProcessText.arguments(arguments);
        } catch (IllegalArgumentException e) {
            line.getErr().println("farheap: " + e.getMessage());
            return CommandLine.ExitCode.USAGE;
        }
        int code = line.execute(text);
        line.getOut().flush();
        IOException failure = output.failure();
        if (failure == null) {
            return code;
        }
        line.getErr()
                .println("farheap: standard output could not be written, so some of it is missing: " + reason(failure));
        return code == CommandLine.ExitCode.OK ? CommandLine.ExitCode.SOFTWARE : code;
    }

    static CommandLine commandLine() {
        CommandLine line = new CommandLine(new Main());
        ServiceLoader.load(Subcommand.class).forEach(line::addSubcommand);
        IParameterExceptionHandler usual = line.getParameterExceptionHandler();
        // Setters apply to the commands that were added before.
        return line.addSubcommand(new CommandLine.HelpCommand())
                .setCaseInsensitiveEnumValuesAllowed(true)
                // A value that begins with @ is not the name of a file.
                .setExpandAtFiles(false)
                .registerConverter(Path.class, Main::path)
                .setParameterExceptionHandler((failure, given) -> refuse(failure, given, usual))
                .setExecutionExceptionHandler((failure, command, parsed) -> fail(failure, command));
    }

    private static Path path(String text) {
        try {
            Path path = Path.of(text);
            FileNames.require(path);
            return path;
        } catch (InvalidPathException e) {
            throw new TypeConversionException("'" + text + "' is no name of a file here (" + e.getReason()
                    + "); names with other characters than ASCII need a locale of UTF-8, such as LC_ALL=C.UTF-8");
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(String.valueOf(e.getMessage()));
        }
    }

    /**
     * Prints the parser's message, where to read more, and how to give a value that looks like an option. The usage of
     * a command has dozens of lines, which would hide the message; only a command that does nothing but contain others
     * prints it, since it lists these.
     */
    private static int refuse(ParameterException failure, String[] arguments, IParameterExceptionHandler usual)
            throws Exception {
        CommandLine command = failure.getCommandLine();
        if (!(command.getCommand() instanceof Callable<?>)) {
            return usual.handleParseException(failure, arguments);
        }
        PrintWriter err = command.getErr();
        err.println(command.getColorScheme().errorText(String.valueOf(failure.getMessage())));
        boolean _ = UnmatchedArgumentException.printSuggestions(failure, err);
        err.println("see '" + command.getCommandSpec().qualifiedName() + " --help'");
        if (failure instanceof UnmatchedArgumentException unmatched && unmatched.isUnknownOption()) {
            String value = unmatched.getUnmatched().getFirst();
            err.println("If " + value + " is a value, put -- before it, and the options before that: -- " + value);
        }
        return CommandLine.ExitCode.USAGE;
    }

    /** Prints one sentence for a failure that users can remedy, a stack trace for a defect. */
    private static int fail(Exception failure, CommandLine command) {
        switch (failure) {
            case ControlException e -> command.getErr().println("farheap: " + e.getMessage());
            case VerbsException e -> command.getErr().println("farheap: " + e.getMessage());
            case CacheException e -> command.getErr().println("farheap: " + e.getMessage());
            case MapException e -> command.getErr().println("farheap: " + e.getMessage());
            case ModelFileException e -> command.getErr().println("farheap: " + e.getMessage());
            case InfeasibleSloException e -> command.getErr().println("farheap: " + e.getMessage());
            case PosixException e -> command.getErr().println("farheap: " + e.getMessage());
            case StateException e -> command.getErr().println("farheap: " + e.getMessage());
            case RefusedProcedureException e -> command.getErr().println("farheap: " + e.getMessage());
            case BenchRunException e -> command.getErr().println("farheap: " + e.getMessage());
            case IllegalArgumentException e -> command.getErr().println("farheap: " + e.getMessage());
            case IOException e when e.getMessage() != null -> command.getErr().println("farheap: " + reason(e));
            case UncheckedIOException e -> command.getErr().println("farheap: " + sentence(e));
            default -> failure.printStackTrace(command.getErr());
        }
        return CommandLine.ExitCode.SOFTWARE;
    }

    /** Returns what was tried, if the exception says that, and why it failed. */
    private static String sentence(UncheckedIOException failure) {
        IOException cause = Objects.requireNonNull(failure.getCause());
        String said = failure.getMessage();
        return said == null || said.equals(cause.toString()) ? reason(cause) : said + ": " + reason(cause);
    }

    private static String reason(IOException failure) {
        return switch (failure) {
            case NoSuchFileException e -> e.getFile() + ": there is no such file or directory";
            case AccessDeniedException e -> e.getFile() + ": this user may not";
            case CharacterCodingException e -> "a file that must be text is not in UTF-8: " + e.getMessage();
            case FileAlreadyExistsException e -> e.getFile() + ": it is there already";
            default -> failure.getMessage() == null ? failure.toString() : failure.getMessage();
        };
    }

    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = Main.class.getPackage().getImplementationVersion();
            return new String[] {
                "farheap " + (version == null ? "(not from a jar)" : version) + " on Java " + Runtime.version() + ", "
                        + System.getProperty("os.name") + " " + System.getProperty("os.arch")
            };
        }
    }
}
