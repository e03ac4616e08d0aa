package io.farheap.command;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * This process's arguments and environment as UTF-8, whatever the locale is. The JVM decodes both by the locale, and
 * replaces every character that the locale does not have by the same one, so that two different keys would become one.
 * Any thread.
 */
public final class ProcessText {

    private static final Path PROCESS = Path.of("/proc/self");
    private static final char REPLACEMENT = '\uFFFD';

    private ProcessText() {}

    /**
     * Returns the arguments as they were given.
     *
     * @param decoded as the JVM has decoded them
     * @throws IllegalArgumentException if an argument is not UTF-8, or its bytes cannot be found out
     */
    public static String[] arguments(String[] decoded) {
        return List.of(decoded).stream().allMatch(ProcessText::isAscii)
                ? decoded
                : arguments(decoded, bytes("cmdline"), charset());
    }

    /**
     * Returns an environment variable.
     *
     * @return null if the environment does not have it
     * @throws IllegalArgumentException if it is not UTF-8, or its bytes cannot be found out
     */
    public static @Nullable String variable(String name) {
        String decoded = System.getenv(name);
        return decoded == null || isAscii(decoded) ? decoded : variable(name, decoded, bytes("environ"), charset());
    }

    /**
     * Checks arguments for a process that is to be started: the JVM encodes them by the locale, and writes a question
     * mark for a character that the locale does not have.
     *
     * @throws IllegalArgumentException if an argument would be changed
     */
    public static void requireEncodable(List<String> arguments) {
        requireEncodable(arguments, charset());
    }

    static void requireEncodable(List<String> arguments, Charset charset) {
        for (String argument : arguments) {
            if (!charset.newEncoder().canEncode(argument)) {
                throw new IllegalArgumentException("'" + argument + "' cannot be passed to another process as "
                        + charset + "; set LC_ALL=C.UTF-8");
            }
        }
    }

    /**
     * @param commandLine of the whole process: each argument, followed by a zero; the last of them are the decoded ones
     */
    static String[] arguments(String[] decoded, byte[] commandLine, Charset charset) {
        List<byte[]> all = parts(commandLine);
        List<byte[]> last = all.subList(Math.max(0, all.size() - decoded.length), all.size());
        String[] arguments = new String[decoded.length];
        for (int i = 0; i < decoded.length; i++) {
            byte[] bytes = i < last.size() ? last.get(i) : null;
            arguments[i] = text("argument " + (i + 1), decoded[i], bytes, charset);
        }
        return arguments;
    }

    /** @param environment each variable as NAME=VALUE, followed by a zero */
    static String variable(String name, String decoded, byte[] environment, Charset charset) {
        byte[] begin = (name + "=").getBytes(StandardCharsets.UTF_8);
        for (byte[] entry : parts(environment)) {
            if (entry.length >= begin.length && Arrays.equals(entry, 0, begin.length, begin, 0, begin.length)) {
                byte[] value = Arrays.copyOfRange(entry, begin.length, entry.length);
                return text("variable " + name, decoded, value, charset);
            }
        }
        return text("variable " + name, decoded, null, charset);
    }

    /** @param bytes that the JVM should have decoded; null if there are none */
    private static String text(String what, String decoded, byte @Nullable [] bytes, Charset charset) {
        // An argument file of the java launcher holds arguments that the command line of the process does not have.
        if (bytes == null || !new String(bytes, charset).equals(decoded)) {
            if (isAscii(decoded) || charset.equals(StandardCharsets.UTF_8) && decoded.indexOf(REPLACEMENT) < 0) {
                return decoded;
            }
            throw new IllegalArgumentException(what + ", " + decoded + ", was decoded as " + charset
                    + ", and its bytes cannot be recovered; set LC_ALL=C.UTF-8");
        }
        try {
            return utf8(bytes);
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(what + ", " + printable(bytes) + ", is not UTF-8; write it in UTF-8", e);
        }
    }

    /**
     * Decodes UTF-8.
     *
     * @throws CharacterCodingException if the bytes are not UTF-8
     */
    public static String utf8(byte[] bytes) throws CharacterCodingException {
        return StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(bytes))
                .toString();
    }

    private static String printable(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte one : bytes) {
            if (one < ' ') {
                text.append("\\x").append(HexFormat.of().toHexDigits(one));
            } else {
                text.append((char) one);
            }
        }
        return text.toString();
    }

    private static List<byte[]> parts(byte[] zeroTerminated) {
        List<byte[]> parts = new ArrayList<>();
        int begin = 0;
        for (int i = 0; i < zeroTerminated.length; i++) {
            if (zeroTerminated[i] == 0) {
                parts.add(Arrays.copyOfRange(zeroTerminated, begin, i));
                begin = i + 1;
            }
        }
        return parts;
    }

    private static boolean isAscii(String text) {
        return text.chars().allMatch(character -> character < 0x80);
    }

    /** Returns the encoding by which the JVM decodes arguments, the environment and file names. */
    private static Charset charset() {
        String name = System.getProperty("sun.jnu.encoding", "");
        return Charset.isSupported(name) ? Charset.forName(name) : Charset.defaultCharset();
    }

    private static byte[] bytes(String file) {
        try {
            return Files.readAllBytes(PROCESS.resolve(file));
        } catch (IOException e) {
            // Without the bytes, the decoded text alone shows whether a character was lost.
            return new byte[0];
        }
    }
}
