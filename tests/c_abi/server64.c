/* A server of DDNet's kind, for 64 clients: it lays out its snapshots as CSnapshot does, and calls teewire where it would
 * call its engine. What it would send is compared with what the reference sends.
 *   server64 EXPECTED    lines of workload, output, bytes and FNV-1a 64
 * TEEWIRE_WORKLOADS names a folder of recorded workloads and reference/WORKLOAD.OUTPUT.bin, if there is one. */
#include "check.h"
#include "workloads.h"

/* ---- as in the engine: engine/shared/snapshot.h ---- */

enum { MAX_CLIENTS = 64, MAX_SNAPSHOT_BYTES = 65536 };

typedef struct CSnapshot {
    int m_DataSize;
    int m_NumItems;
    /* int aOffsets[m_NumItems]; then the items: int m_TypeAndId; int aData[]; */
} CSnapshot;

typedef union CSnapshotBuffer {
    CSnapshot m_Snapshot;
    unsigned char m_aData[MAX_SNAPSHOT_BYTES];
} CSnapshotBuffer;

/* Offsets grow from the start, items behind them; they are put together at the end. */
static int Finish(CSnapshotBuffer* pSnap, struct workload const* pWorld, int To) {
    int32_t const* const pSource = To ? pWorld->to : pWorld->from;
    int const NumItems = pSource[1];
    int* const pOffsets = (int*)(&pSnap->m_Snapshot + 1);
    char* const pItems = (char*)(pOffsets + NumItems);
    int DataSize = 0;
    for (int i = 0; i < NumItems; i++) {
        int const Begin = pSource[2 + i];
        int const End = i + 1 < NumItems ? pSource[3 + i] : pSource[0];
        pOffsets[i] = DataSize;
        memcpy(pItems + DataSize, (char const*)(pSource + 2 + NumItems) + Begin, (size_t)(End - Begin));
        DataSize += End - Begin;
    }
    pSnap->m_Snapshot.m_DataSize = DataSize;
    pSnap->m_Snapshot.m_NumItems = NumItems;
    return (int)sizeof(CSnapshot) + NumItems * 4 + DataSize;
}

typedef struct CClient {
    int m_LastAckedSnapshot; /* -1 for the first */
    teewire_history* m_pSnapshots;
} CClient;

/* ---- what is expected ---- */

static char const* g_pFolder;
static FILE* g_pExpected;
static int g_Compared;

static char const* ReferenceFolder(void) {
    char const* const pFolder = getenv("TEEWIRE_WORKLOADS");
    char aPath[1024];
    FILE* pFile;
    if (pFolder == NULL) return NULL;
    snprintf(aPath, sizeof aPath, "%s/reference/reference.tsv", pFolder);
    pFile = fopen(aPath, "r");
    if (pFile == NULL) return NULL;
    fclose(pFile);
    return pFolder;
}

static uint64_t Fnv(uint8_t const* pBytes, size_t Size) {
    uint64_t Hash = 0xcbf29ce484222325U;
    for (size_t i = 0; i < Size; i++) Hash = (Hash ^ pBytes[i]) * 0x100000001b3U;
    return Hash;
}

static void Compare(char const* pWorkload, char const* pOutput, uint8_t const* pBytes, size_t Size) {
    char aLine[256], aName[64], aOutput[64];
    unsigned long long Hash = 0;
    unsigned long Length = 0;
    int Found = 0;
    rewind(g_pExpected);
    while (!Found && fgets(aLine, sizeof aLine, g_pExpected) != NULL)
        Found = sscanf(aLine, "%63s %63s %lu %llx", aName, aOutput, &Length, &Hash) == 4 &&
                strcmp(aName, pWorkload) == 0 && strcmp(aOutput, pOutput) == 0;
    if (Found) {
        CHECK_EQUAL(Size, Length);
        CHECK(Fnv(pBytes, Size) == Hash);
        g_Compared++;
    }
    if (g_pFolder != NULL) {
        static uint8_t aFile[1 << 17];
        char aPath[1024];
        FILE* pFile;
        snprintf(aPath, sizeof aPath, "%s/reference/%s.%s.bin", g_pFolder, pWorkload, pOutput);
        pFile = fopen(aPath, "rb");
        REQUIRE(pFile != NULL);
        CHECK_EQUAL(fread(aFile, 1, sizeof aFile, pFile), Size);
        CHECK(memcmp(aFile, pBytes, Size) == 0);
        fclose(pFile);
        g_Compared++;
    }
}

/* Reference files are little-endian. */
static void CompareInts(char const* pWorkload, char const* pOutput, int32_t const* pInts, int Num) {
    static uint8_t aBytes[4 * TEEWIRE_MAX_DELTA_INTS];
    for (int i = 0; i < Num; i++)
        for (int b = 0; b < 4; b++) aBytes[4 * i + b] = (uint8_t)((uint32_t)pInts[i] >> 8 * b);
    Compare(pWorkload, pOutput, aBytes, 4 * (size_t)Num);
}

/* ---- the server ---- */

static CClient g_aClients[MAX_CLIENTS];
static teewire_scratch* g_pScratch;

static int Encode(teewire_snapshot const* pFrom, teewire_snapshot const* pTo, int32_t Huffman, uint8_t* pOut) {
    teewire_encode_options Options;
    memset(&Options, 0, sizeof Options);
    Options.size = sizeof Options;
    Options.huffman = Huffman;
    return teewire_encode(pFrom, pTo, &Options, g_pScratch, pOut, TEEWIRE_MAX_ENCODED_BYTES, NULL);
}

/* What CServer::DoSnapshot does for one client. Returns the bytes of the delta. */
static int DoSnapshot(CClient* pClient, int Tick, CSnapshotBuffer const* pBuffer, uint8_t* pOut,
                      teewire_snapshot* pBase) {
    teewire_snapshot Now;
    int Size;
    teewire_snapshot_view(&Now, (int32_t const*)(void const*)pBuffer, TEEWIRE_DISTINCT_KEYS);
    teewire_history_drop_before(pClient->m_pSnapshots, Tick - 3 * 50);
    memset(pBase, 0, sizeof *pBase);
    if (pClient->m_LastAckedSnapshot >= 0) /* otherwise the empty one */
        CHECK_EQUAL(teewire_history_find(pClient->m_pSnapshots, pClient->m_LastAckedSnapshot, pBase, NULL), 0);
    Size = Encode(pBase, &Now, TEEWIRE_HUFFMAN_NONE, pOut);
    REQUIRE(teewire_history_add(pClient->m_pSnapshots, Tick, &Now, 0, NULL, NULL) > 0);
    return Size;
}

/* `pPacked` as sent, and the same delta in the other forms. */
static void CompareAll(char const* pWorkload, teewire_snapshot const* pFrom, teewire_snapshot const* pTo,
                       uint8_t const* pPacked, int Packed) {
    static int32_t aDelta[TEEWIRE_MAX_DELTA_INTS];
    static uint8_t aCoded[TEEWIRE_MAX_ENCODED_BYTES];
    static uint8_t const aNothing[3] = {0}; /* what the reference files hold where nothing is sent */
    int Ints = teewire_delta_create(pFrom, pTo, NULL, g_pScratch, aDelta, TEEWIRE_MAX_DELTA_INTS, NULL);
    CHECK_EQUAL(Ints == 0, Packed == 0);
    if (Ints == 0) {
        memset(aDelta, 0, 3 * sizeof *aDelta);
        Ints = 3;
        pPacked = aNothing;
        Packed = 3;
    }
    CompareInts(pWorkload, "delta", aDelta, Ints);
    Compare(pWorkload, "packed", pPacked, (size_t)Packed);
    for (int Ending = TEEWIRE_HUFFMAN_EXACT; Ending <= TEEWIRE_HUFFMAN_PADDED; Ending++) {
        int Coded = Encode(pFrom, pTo, Ending, aCoded);
        if (pPacked == aNothing) {
            CHECK_EQUAL(Coded, 0);
            Coded = teewire_huffman_encode(aNothing, 3, Ending, aCoded, sizeof aCoded, NULL);
        }
        Compare(pWorkload, Ending == TEEWIRE_HUFFMAN_EXACT ? "huffman-ddnet" : "huffman-vanilla", aCoded,
                (size_t)Coded);
    }
}

static void Run(struct workload const* pWorld) {
    enum { TICKS = 8 };
    static CSnapshotBuffer Buffer;
    static uint8_t aPacked[TEEWIRE_MAX_ENCODED_BYTES];
    uint32_t const Bytes = TEEWIRE_HISTORY_SIZE(150, 6 * MAX_SNAPSHOT_BYTES);
    for (int c = 0; c < MAX_CLIENTS; c++) {
        static void* apMemory[MAX_CLIENTS];
        if (apMemory[c] == NULL) apMemory[c] = take(Bytes);
        g_aClients[c].m_LastAckedSnapshot = -1;
        REQUIRE(teewire_history_init(&g_aClients[c].m_pSnapshots, apMemory[c], Bytes, 150) == 0);
    }
    for (int Tick = 0; Tick < TICKS; Tick++) {
        int const To = Tick % 2;
        int const Size = Finish(&Buffer, pWorld, To);
        CHECK_EQUAL(Size, 4 * (To ? pWorld->to_size : pWorld->from_size));
        for (int c = 0; c < MAX_CLIENTS; c++) {
            CClient* const pClient = &g_aClients[c];
            teewire_snapshot Base, Now, Got;
            int const Packed = DoSnapshot(pClient, Tick, &Buffer, aPacked, &Base);
            REQUIRE(Packed >= 0);
            teewire_snapshot_view(&Now, (int32_t const*)(void const*)&Buffer, TEEWIRE_DISTINCT_KEYS);
            /* Every eighth never answers; some answer so late that their base is of two ticks ago: the same world. */
            int const Silent = c % 8 == 0, Late = c % 8 == 5;
            if (Late && Tick >= 2) CHECK_EQUAL(Packed, 0);
            if (To && !Silent && !Late) CompareAll(pWorld->name, &Base, &Now, aPacked, Packed);
            /* The client has the same world then. */
            REQUIRE(teewire_decode(&Base, aPacked, (uint32_t)Packed, NULL, g_pScratch, &Got, NULL) > 0);
            CHECK_EQUAL(teewire_snapshot_checksum(&Got), teewire_snapshot_checksum(&Now));
            CHECK_EQUAL(teewire_snapshot_items(&Got), teewire_snapshot_items(&Now));
            if (To && !Silent && !Late) CompareInts(pWorld->name, "applied", Got.ints, (int)Got.size);
            if (!Silent) pClient->m_LastAckedSnapshot = Late ? Tick - 1 : Tick;
        }
    }
}

int main(int argc, char** argv) {
    struct workload World;
    uint32_t Number = 0;
    cap_cpu_from_environment();
    REQUIRE(argc >= 2);
    g_pExpected = fopen(argv[1], "r");
    REQUIRE(g_pExpected != NULL);
    g_pFolder = ReferenceFolder();
    if (g_pFolder != NULL) add_recorded_workloads(g_pFolder);
    else printf("SKIPPED: the reference's own files, as TEEWIRE_WORKLOADS names no folder of them\n");
    g_pScratch = new_scratch();
    for (; get_workload(Number, &World); Number++) Run(&World);
    give_back();
    fclose(g_pExpected);
    printf("%u workloads, 64 clients: %d outputs compared with the reference, %d checks, %d failed\n",
           (unsigned)Number, g_Compared, checks, failed_checks);
    return failed_checks != 0 || g_Compared < 6 * 5;
}
