package io.farheap.command;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Arguments and variables as the kernel has them, and as a JVM decodes them by its locale. */
class ProcessTextTest {

    private static final Charset ASCII = StandardCharsets.US_ASCII;
    private static final Charset LATIN = StandardCharsets.ISO_8859_1;
    private static final Charset UTF = StandardCharsets.UTF_8;
    private static final String CAFE = "caf\u00e9";

    private static byte[] lines(Charset charset, String... parts) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (String part : parts) {
            bytes.writeBytes(part.getBytes(charset));
            bytes.write(0);
        }
        return bytes.toByteArray();
    }

    private static String seen(String text, Charset written, Charset locale) {
        return new String(text.getBytes(written), locale);
    }

    private static String refusal(String decoded, byte[] line, Charset charset) {
        return assertThrows(
                        IllegalArgumentException.class,
                        () -> ProcessText.arguments(new String[] {decoded}, line, charset))
                .getMessage();
    }

    @Test
    void argumentsAreUtf8WhateverTheLocaleIs() {
        byte[] line = lines(UTF, "java", "-cp", CAFE, "Main", "kv", CAFE, "", "\uFFFD", "caf\u00fc");
        for (Charset locale : new Charset[] {ASCII, LATIN, UTF}) {
            String[] decoded = {
                "kv", seen(CAFE, UTF, locale), "", seen("\uFFFD", UTF, locale), seen("caf\u00fc", UTF, locale)
            };
            assertArrayEquals(
                    new String[] {"kv", CAFE, "", "\uFFFD", "caf\u00fc"}, ProcessText.arguments(decoded, line, locale));
        }
    }

    @Test
    void whatIsNotUtf8IsRefused() {
        byte[] line = lines(LATIN, "java", "Main", CAFE);
        for (Charset locale : new Charset[] {ASCII, LATIN, UTF}) {
            assertEquals(
                    "argument 1, caf\\xe9, is not UTF-8; write it in UTF-8",
                    refusal(seen(CAFE, LATIN, locale), line, locale));
        }
    }

    /** The argument comes from an argument file of the java launcher, for example. */
    @Test
    void whatTheCommandLineDoesNotHaveIsRefusedIfSomethingIsLost() {
        byte[] line = lines(UTF, "java", "@arguments");
        assertTrue(refusal(seen(CAFE, UTF, ASCII), line, ASCII).contains("set LC_ALL=C.UTF-8"));
        assertTrue(refusal(seen(CAFE, UTF, LATIN), line, LATIN).contains("set LC_ALL=C.UTF-8"));
        assertTrue(refusal(seen(CAFE, LATIN, UTF), line, UTF).contains("set LC_ALL=C.UTF-8"));
        String[] kept = {CAFE, "x"};
        assertArrayEquals(kept, ProcessText.arguments(kept, line, UTF));
        assertArrayEquals(kept, ProcessText.arguments(kept, new byte[0], UTF));
    }

    @Test
    void variablesAreUtf8() {
        byte[] environment = lines(UTF, "TOKEN2=other", "OTHER=TOKEN=no", "TOKEN=" + CAFE, "EMPTY=");
        for (Charset locale : new Charset[] {ASCII, LATIN, UTF}) {
            assertEquals(CAFE, ProcessText.variable("TOKEN", seen(CAFE, UTF, locale), environment, locale));
        }
        assertThrows(
                IllegalArgumentException.class,
                () -> ProcessText.variable("TOKEN", seen(CAFE, LATIN, ASCII), lines(LATIN, "TOKEN=" + CAFE), ASCII));
    }

    @Test
    void whatAChildWouldGetOtherwiseIsRefused() {
        ProcessText.requireEncodable(List.of("server", CAFE), UTF);
        ProcessText.requireEncodable(List.of("server"), ASCII);
        assertEquals(
                "'caf\u00e9' cannot be passed to another process as US-ASCII; set LC_ALL=C.UTF-8",
                assertThrows(
                                IllegalArgumentException.class,
                                () -> ProcessText.requireEncodable(List.of("server", CAFE), ASCII))
                        .getMessage());
    }

    @Test
    void thisProcessHasItsEnvironment() {
        assertEquals(System.getenv("PATH"), ProcessText.variable("PATH"));
        assertNull(ProcessText.variable("FARHEAP_NO_SUCH_VARIABLE"));
    }
}
