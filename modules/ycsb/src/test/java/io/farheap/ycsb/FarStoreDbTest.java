package io.farheap.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.Vector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;
import site.ycsb.Utils;
import site.ycsb.measurements.Measurements;

class FarStoreDbTest {

    private static final String TABLE = "usertable";

    @TempDir
    Path directory;

    private static FarStoreDb open(String... properties) throws DBException {
        Properties all = new Properties();
        all.setProperty("farheap.memory", "1m");
        for (int i = 0; i < properties.length; i += 2) {
            all.setProperty(properties[i], properties[i + 1]);
        }
        // YCSB's client sets these properties, too.
        Measurements.setProperties(all);
        FarStoreDb db = new FarStoreDb();
        db.setProperties(all);
        db.init();
        return db;
    }

    private static Map<String, ByteIterator> fields(String... namesAndValues) {
        Map<String, String> strings = new TreeMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            strings.put(namesAndValues[i], namesAndValues[i + 1]);
        }
        return StringByteIterator.getByteIteratorMap(strings);
    }

    private static Map<String, String> read(FarStoreDb db, String key, Set<String> fields) {
        Map<String, ByteIterator> result = new HashMap<>();
        assertEquals(Status.OK, db.read(TABLE, key, fields, result));
        return new TreeMap<>(StringByteIterator.getStringMap(result));
    }

    // YCSB's interface has a Vector.
    @SuppressWarnings("JdkObsolete")
    @Test
    void recordsAreInsertedReadChangedAndDeleted() throws Exception {
        FarStoreDb db = open();
        assertEquals(Status.NOT_FOUND, db.read(TABLE, "a", null, new HashMap<>()));
        assertEquals(Status.NOT_FOUND, db.update(TABLE, "a", fields("x", "1")));
        assertEquals(Status.OK, db.insert(TABLE, "a", fields("x", "one", "y", "two", "", "")));
        assertEquals(Status.OK, db.insert("other", "a", fields("x", "elsewhere")));
        assertEquals(Map.of("x", "one", "y", "two", "", ""), read(db, "a", null));
        assertEquals(Map.of("y", "two"), read(db, "a", Set.of("y", "z")));
        // An update in place, one that is longer, and one of a new field.
        assertEquals(Status.OK, db.update(TABLE, "a", fields("y", "TWO")));
        assertEquals(Map.of("x", "one", "y", "TWO", "", ""), read(db, "a", null));
        assertEquals(Status.OK, db.update(TABLE, "a", fields("x", "longer than before")));
        assertEquals(Status.OK, db.update(TABLE, "a", fields("z", "new", "y", "")));
        assertEquals(Map.of("x", "longer than before", "y", "", "z", "new", "", ""), read(db, "a", null));
        String large = "0123456789".repeat(5000);
        assertEquals(Status.OK, db.insert(TABLE, "large", fields("x", large)));
        assertEquals(Map.of("x", large), read(db, "large", null));
        assertEquals(Status.OK, db.delete(TABLE, "a"));
        assertEquals(Status.NOT_FOUND, db.read(TABLE, "a", null, new HashMap<>()));
        assertEquals(Status.NOT_IMPLEMENTED, db.scan(TABLE, "a", 1, null, new Vector<>()));
        db.cleanup();
    }

    @Test
    void threadsShareAStoreThatIsLoadedOnce() throws Exception {
        String[] properties = {"farheap.load", "true", "recordcount", "20000", "workload", "CoreWorkload"};
        List<FarStoreDb> open = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            open.add(open(properties));
        }
        for (FarStoreDb db : open) {
            // The records have 1,000 bytes each, so that most of them are on the device.
            for (int record = 0; record < 20_000; record += 500) {
                Map<String, String> fields = read(db, "user" + Utils.hash(record), null);
                assertEquals(10, fields.size());
                fields.values().forEach(value -> assertEquals(100, value.length()));
            }
        }
        for (FarStoreDb db : open) {
            db.cleanup();
        }
    }

    @Test
    void whatIsInFilesIsThereForTheNextRun() throws Exception {
        String[] properties = {"farheap.directory", directory.toString()};
        FarStoreDb db = open(properties);
        for (int i = 0; i < 5000; i++) {
            assertEquals(Status.OK, db.insert(TABLE, "key" + i, fields("x", "value " + i, "y", "0".repeat(500))));
        }
        db.cleanup();
        FarStoreDb next = open(properties);
        for (int i = 0; i < 5000; i++) {
            assertEquals(Map.of("x", "value " + i), read(next, "key" + i, Set.of("x")));
        }
        next.cleanup();
    }

    /** An exception would end a thread of YCSB's client, and the run would end as if it had succeeded. */
    @Test
    void aKeyOrAValueThatIsTooLongFails() throws Exception {
        FarStoreDb db = open();
        String key = "k".repeat(314);
        Map<String, ByteIterator> fields = fields("x", "1");
        for (Status status : List.of(
                db.read(TABLE, key, null, new HashMap<>()),
                db.update(TABLE, key, fields),
                db.insert(TABLE, key, fields),
                db.delete(TABLE, key))) {
            assertEquals("ERROR", status.getName());
            assertTrue(status.getDescription().contains("a key of 324 bytes"), status.getDescription());
        }
        assertEquals(
                "ERROR",
                db.insert(TABLE, "a", fields("x", "1".repeat(17 << 20))).getName());
        db.cleanup();
    }

    @Test
    void aWrongSizeIsRefusedInOneSentence() {
        DBException wrong = assertThrows(DBException.class, () -> open("farheap.memory", "much"));
        assertTrue(wrong.getMessage().contains("farheap.memory=much: a size is"), wrong::getMessage);
    }

    /** Runs YCSB's client in a process of its own, because the client ends its process. */
    @ParameterizedTest
    @ValueSource(strings = {"io.farheap.ycsb.FarStoreDb", "io.farheap.ycsb.EmptyDb"})
    void theClientRunsWorkloadA(String binding) throws Exception {
        Path log = directory.resolve("log");
        int status = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "site.ycsb.Client",
                        "-db",
                        binding,
                        "-t",
                        "-threads",
                        "2",
                        "-p",
                        "workload=site.ycsb.workloads.CoreWorkload",
                        "-p",
                        "recordcount=2000",
                        "-p",
                        "operationcount=4000",
                        "-p",
                        "readproportion=0.5",
                        "-p",
                        "updateproportion=0.4",
                        "-p",
                        "readmodifywriteproportion=0.1",
                        "-p",
                        "farheap.load=true")
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start()
                .waitFor();
        String printed = Files.readString(log);
        assertEquals(0, status, printed);
        assertTrue(printed.contains("[READ], Return=OK"), printed);
        assertTrue(printed.contains("[UPDATE], Return=OK"), printed);
        assertTrue(!printed.contains("Return=NOT_FOUND") && !printed.contains("Return=ERROR"), printed);
    }
}
