package io.farheap.manager.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Effort;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class RecordFormatTest {

    private static final ServerRecord SERVER = Samples.server(0xab);
    private static final String PATH = "/farheap/servers/00000000000000ab";

    private static String text(ServerRecord server) {
        return new String(RecordFormat.encode(server), StandardCharsets.UTF_8);
    }

    private static ServerRecord server(String text) {
        return RecordFormat.server(PATH, text.getBytes(StandardCharsets.UTF_8));
    }

    private static void refuses(String fault, String text) {
        MalformedRecordException refused = assertThrows(MalformedRecordException.class, () -> server(text));
        assertTrue(refused.getMessage().contains(PATH), refused::getMessage);
        assertTrue(refused.getMessage().contains(fault), refused::getMessage);
    }

    @Test
    void anOperatorCanReadIt() {
        assertEquals("""
                version=1
                id=00000000000000ab
                address=host171:7000
                type=spot
                spot=true
                sinceMillis=1000
                place=rack-1
                regionBytes=1048576
                regions=64
                noticeMillis=30000
                leaving=false
                """, text(SERVER));
        assertEquals("""
                version=1
                id=0000000000000105
                name=cache 261
                capacity=4294967296
                wanted=0
                regionBytes=1048576
                place=d/c/r
                switches=3
                serverThreads=2
                threadRegions=0
                expiresAtMillis=0
                tenant=acme
                generation=7
                regions=0000000000000001:3,0000000000000002:1
                reserved=
                plan=
                ended=false
                """, new String(RecordFormat.encode(Samples.cache(0x105, 7)), StandardCharsets.UTF_8));
    }

    @Test
    void everyRecordComesBack() {
        long seed = System.nanoTime();
        System.out.println("RecordFormatTest.everyRecordComesBack: seed " + seed);
        Random random = new Random(seed);
        for (int i = 0; i < Effort.count(5_000); i++) {
            ServerRecord server = Samples.server(random);
            assertEquals(
                    server,
                    RecordFormat.server(NodePaths.server(server.id()), RecordFormat.encode(server)),
                    "seed " + seed);
            CacheRecord cache = Samples.cache(random);
            assertEquals(
                    cache, RecordFormat.cache(NodePaths.cache(cache.id()), RecordFormat.encode(cache)), "seed " + seed);
        }
    }

    @Test
    void aTenantsQuotaComesBack() {
        TenantRecord acme = new TenantRecord("acme", 1L << 36, Long.MAX_VALUE);
        byte[] bytes = RecordFormat.encode(acme);
        assertEquals(
                "version=1\nname=acme\nbytes=68719476736\ncaches=9223372036854775807\n",
                new String(bytes, StandardCharsets.UTF_8));
        assertEquals(acme, RecordFormat.tenant("/farheap/tenants/acme", bytes));
        assertThrows(MalformedRecordException.class, () -> RecordFormat.tenant("/farheap/tenants/other", bytes));
    }

    @Test
    void aCacheOfAnEarlierReleaseIsTheDefaultTenants() {
        CacheRecord cache = Samples.cache(0x105, 7);
        String text = new String(RecordFormat.encode(cache), StandardCharsets.UTF_8);
        byte[] earlier = text.replace("tenant=acme\n", "")
                .replace("threadRegions=0\n", "")
                .replace("plan=\n", "")
                .replace("ended=false\n", "")
                .getBytes(StandardCharsets.UTF_8);
        assertEquals(
                "default",
                RecordFormat.cache(NodePaths.cache(0x105), earlier).terms().tenant());
    }

    @Test
    void keysOfNewerVersionsAreIgnored() {
        assertEquals(SERVER, server(text(SERVER) + "colour=\\blue\n"));
    }

    @Test
    void whatIsMalformedIsRefusedAndNamed() {
        String good = text(SERVER);
        refuses("its version is 2", good.replace("version=1", "version=2"));
        refuses("is not key=value", "");
        refuses("it has no version", "colour=blue");
        refuses("it has no place", good.replace("place=rack-1\n", ""));
        refuses("it has place twice", good + "place=here\n");
        refuses("is not key=value", good + "something else\n");
        refuses("is not key=value", good.replace("\n", "\n\n"));
        refuses("regions has 'many'", good.replace("regions=64", "regions=many"));
        refuses("integer overflow", good.replace("regions=64", "regions=6400000000"));
        refuses("regions is -1", good.replace("regions=64", "regions=-1"));
        refuses("noticeMillis has '99999999999999999999'", good.replace("=30000", "=99999999999999999999"));
        refuses("address is blank", good.replace("address=host171:7000", "address= "));
        refuses("must be true or false", good.replace("leaving=false", "leaving=no"));
        refuses("16 hexadecimal digits", good.replace("id=00000000000000ab", "id=ab"));
        refuses("16 hexadecimal digits", good.replace("id=00000000000000ab", "id=0000000000000xyz"));
        refuses("belongs at /farheap/servers/00000000000000ac", good.replace("00ab", "00ac"));
        refuses("a backslash", good.replace("rack-1", "rack\\1"));
        refuses("a backslash", good.replace("rack-1", "rack\\"));
        refuses("four hexadecimal digits", good.replace("rack-1", "rack\\u12"));
        refuses("four hexadecimal digits", good.replace("rack-1", "rack\\uwxyz"));
        MalformedRecordException refused = assertThrows(
                MalformedRecordException.class, () -> RecordFormat.server(PATH, new byte[] {'a', '=', (byte) 0xc3}));
        assertTrue(refused.getMessage().contains("it is not UTF-8"), refused::getMessage);
    }

    @Test
    void malformedCountsAreRefused() {
        CacheRecord cache = Samples.cache(1, 0);
        String good = new String(RecordFormat.encode(cache), StandardCharsets.UTF_8);
        for (String counts : new String[] {
            ",",
            "1",
            "0000000000000001",
            "0000000000000001:",
            "0000000000000001:0",
            "0000000000000001:-1",
            "0000000000000001:1,",
            "0000000000000001:1,0000000000000001:2",
            "0000000000000001:9999999999"
        }) {
            byte[] bytes = good.replace("reserved=", "reserved=" + counts).getBytes(StandardCharsets.UTF_8);
            assertThrows(MalformedRecordException.class, () -> RecordFormat.cache(NodePaths.cache(1), bytes), counts);
        }
    }

    /** Random changes of good records: each is read, or refused with the one exception. */
    @Test
    void nothingElseIsThrownOnAnyBytes() {
        long seed = System.nanoTime();
        System.out.println("RecordFormatTest.nothingElseIsThrownOnAnyBytes: seed " + seed);
        Random random = new Random(seed);
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            CacheRecord cache = Samples.cache(random);
            byte[] bytes = RecordFormat.encode(cache);
            for (int j = random.nextInt(4); j >= 0; j--) {
                bytes = damaged(bytes, random);
            }
            try {
                RecordFormat.cache(NodePaths.cache(cache.id()), bytes);
                RecordFormat.server(NodePaths.cache(cache.id()), bytes);
            } catch (MalformedRecordException e) {
                refused++;
            } catch (Throwable e) {
                throw new AssertionError("seed " + seed + ", " + Arrays.toString(bytes), e);
            }
        }
        assertTrue(refused > 0);
    }

    private static byte[] damaged(byte[] bytes, Random random) {
        byte[] copy = Arrays.copyOf(bytes, random.nextInt(8) == 0 ? random.nextInt(bytes.length + 4) : bytes.length);
        if (copy.length > 0) {
            byte[] likely = "\n=\\u:,0-9af\0".getBytes(StandardCharsets.UTF_8);
            copy[random.nextInt(copy.length)] =
                    random.nextBoolean() ? (byte) random.nextInt(256) : likely[random.nextInt(likely.length)];
        }
        return copy;
    }

    @Test
    void recordsRefuseWhatCannotBe() {
        assertThrows(IllegalArgumentException.class, () -> new ServerRecord(1, "", "", false, 0, "", 1, 1, 0, false));
        assertThrows(
                IllegalArgumentException.class, () -> new ServerRecord(1, "a:1", "", false, 0, "", 0, 1, 0, false));
        assertThrows(
                IllegalArgumentException.class,
                () -> new CacheRecord(1, "a", 1, -1, 1, Samples.TERMS, 0, new TreeMap<>(), new TreeMap<>()));
        assertThrows(IllegalArgumentException.class, () -> new AllocationTerms("", 1, 0, -1, "t"));
        assertThrows(IllegalArgumentException.class, () -> new AllocationTerms("", 0, 0, 0, "t"));
        assertThrows(IllegalArgumentException.class, () -> new AllocationTerms("", 1, -1, 0, "t"));
        assertThrows(IllegalArgumentException.class, () -> new AllocationTerms("", 1, 0, 0, ""));
        assertThrows(IllegalArgumentException.class, () -> new AllocationTerms("", 1, 0, 0, "a/b"));
        TreeMap<Long, Integer> none = new TreeMap<>();
        none.put(1L, 0);
        assertThrows(
                IllegalArgumentException.class,
                () -> new CacheRecord(1, "a", 1, 0, 1, Samples.TERMS, 0, none, new TreeMap<>()));
    }

    @Test
    void recordsDoNotChange() {
        TreeMap<Long, Integer> regions = new TreeMap<>();
        regions.put(1L, 1);
        CacheRecord cache = new CacheRecord(1, "a", 1, 0, 1, Samples.TERMS, 0, regions, new TreeMap<>());
        regions.put(2L, 1);
        assertEquals(1, cache.regions().size());
        assertThrows(UnsupportedOperationException.class, () -> cache.regions().clear());
    }

    @Test
    void livesAreReadAsTheyWereWritten() {
        LifeRecord life = new LifeRecord(
                "a,b=c/\n",
                1 / 7.0,
                List.of(new LifeRecord.LifeSample(1 / 3.0, 5, 0, 9), new LifeRecord.LifeSample(1e-9, 0, 7, 0)),
                1e9 / 3);
        byte[] bytes = RecordFormat.encode(life);
        assertEquals(life, RecordFormat.life(NodePaths.life(life.type()), bytes));
        assertThrows(MalformedRecordException.class, () -> RecordFormat.life(NodePaths.life("other"), bytes));
        for (String wrong : List.of("1:2", "-1:1:0", "NaN:1:0", "x:1:0", "1:-1:0")) {
            byte[] text = ("version=1\ntype=t\nseen=" + wrong + "\n").getBytes(StandardCharsets.UTF_8);
            assertThrows(MalformedRecordException.class, () -> RecordFormat.life(NodePaths.life("t"), text), wrong);
        }
        byte[] earlier = "version=1\ntype=t\nseen=2.0:1:0\n".getBytes(StandardCharsets.UTF_8);
        assertEquals(
                new LifeRecord("t", 0, List.of(new LifeRecord.LifeSample(2, 1, 0, 0)), 0),
                RecordFormat.life(NodePaths.life("t"), earlier));
        byte[] others = "version=1\ntype=t\nseen=2.0:1:0\natHours=1.0,2.0\n".getBytes(StandardCharsets.UTF_8);
        assertThrows(MalformedRecordException.class, () -> RecordFormat.life(NodePaths.life("t"), others));
    }
}
